"""Ages over 89, which the Safe Harbor rule removes, in the forms of notes, and values of the same look."""

import pytest

from sklearn_deid import NoteDeidentifier, RuleTagger
from sklearn_deid.tagging.rules import LANGUAGES, find_phi
from sklearn_deid.tagging.rules.old_ages import OLD_AGE_RULES

# The parts in brackets are PHI.
AGES = {
    "en": """
        is in her [90s] and | in her [90's] | in his early [nineties] | in her [nineties] | in his late [90s]
        HR 80, in his early [90s] | sats 95, lady in her mid [90s]
        She turned [95] last week | She turned [95]. | turning [100] in May | turned [ninety-five] | turned [ninety]
        She is [95]. | He is [95] | Patient is [95] and frail | Pt is [95] | she is [ninety-five] | mother is [95]
        Sex/Age: F/[95] | F/[95] | M/[101] with | [95]F fell | [95]M fell | [95] y/o | [95] y.o. man | [95]-yr-old
        [95]yo F | [95]YOF with | [95] yof | [95] yom | [95]y F | [95] y M | ([95] y) | [95]y | [90]+ years old
        aged [95] | age: [95] | Age [95] | at the age of [95] | Her age is [95] | Age (years): [95] | Age in years: [95]
        ages [92] and [95] | aged [92-95] | aged [88-92] | age [ninety-five] | aged [ninety-five]
        [ninety-five] years old | [ninety five] year old | [one hundred and two] years old | [one hundred] yrs
        a [nonagenarian] | This [centenarian] is | a [supercentenarian]
        on his [95]th birthday | celebrated her [100]th | [ninety-fifth] birthday | her [hundredth] birthday
        in her [95]th year | woman, [95], with | Mrs Alder, [95], was | Ms Alder ([95]) | mother, [95], and
        Male, [95] | female [95] | [95] male | [95] woman | [95]-year history | [95] WF with | [95] AAF | [95] BM with
        Mrs O'Alder, [95], was | Ms Roe-Alder ([95]) | is [95] y, and | [95] y female
        [95] y w/ CHF | a [93] y s/p fall | Pt is [91] y. Lives alone | [91] y - HTN | [92] y admitted with
        [93] y from home
        [93] y who fell | [93] y c/o pain | [93] y: frail | [93] y RHD | [93] y AAF | [93] y right-handed
        [93] y in distress
        [95] y HR 80 | [95] y BP 120/80 | [93] y T 98.6 | [93] y RR 18 | [95] y CHF | [95] y dementia
        she turned [95] and moved to the left wing
        mother died at [95] | died at the age of [95] | lived to be [99] | lived to [101] | father (d. [95])
    """,
    "es": """
        [noventa y cinco] años | [cien] años | [ciento dos] años | una [nonagenaria] | paciente [centenario]
        mujer, [92]a, con | ([92]a)
        cumplió [95] en | falleció a los [95] | murió con [95] | su [95] cumpleaños | su [95]º cumpleaños | M/[95]
        Mujer de [95 años] | edad [95 años] | edad de [95]
    """,
    "de": """
        eine [fünfundneunzig]jährige | [Neunzig]jährige Patientin | [neunzig] Jahre alt | [hundertzwei] Jahre
        Anfang [90], lebt | Mitte [neunzig] | verstarb mit [95] | eine [Neunzigerin] | w/[95]
        [95] J., w | [95]J. w | [92] J, m | [103] J. alt | Pat. [95]jähr.
        [95]-jährige | [95] Jahre | im Alter von [95] | [101] Jahre
    """,
    "fr": """
        [quatre-vingt-quinze] ans | [quatre-vingt-dix] ans | [quatre vingt dix-sept] ans | [nonante-cinq] ans
        [cent] ans | une [nonagénaire] | un [centenaire] | décédée à [95] | décédé à l'âge de [95] ans
        son [95]e anniversaire | son [95]ème anniversaire | F/[95] | H/[95] | [95] ans
    """,
    "nb": """
        [nittifem] år | [nitti] år gammel | [hundre og to] år | en [nitti]åring | [hundre]åring | fylte [95] i
        sin [95]-årsdag | [95]-åring | K/[95] | [95] år
    """,
    "it": """
        [novantacinque] anni | [novantotto] anni | [cento] anni | [centenaria] | [ultranovantenne]
        deceduto a [95] | il [95]° compleanno | F/[95] | [95]enne | [95] anni
    """,
    "pt": """
        [noventa e cinco] anos | [cem] anos | [cento e dois] anos | [nonagenária] | [centenário] | faleceu aos [95]
        completou [95] | o [95]º aniversário | M/[95] | [95] anos
    """,
    "nl": """
        [vijfennegentig] jaar | [negentig]jarige | [honderd] jaar | [negentiger] | [95]ste verjaardag | [95]e verjaardag
        [92] j. | vrouw, [92]j, | [92] j oud
        overleden op [95] | V/[95] | [95] jaar | [95]-jarige
    """,
}
VALUES = """
    SpO2 95 | SpO2 95 on RA | sats in the mid 90s on RA | O2 sats were in the mid-90s | SBP in the late 80s
    HR 95 and regular | HR in the 90s | BP 95/60 | F/u 95 | Temp 100 F | T 95F, HR 80 | T 98.6 F / 95 / 16
    she turned 90 degrees | he was 95% on room air | She was 95 kg | he is 110 kg | pulse was 110 and regular
    He was 98.6 | room 95 | bed 95 | Room 95 male | bed 101 female | dose 95 mg | 95th percentile
    her 95th percentile | weight at the 97th percentile | day 100 | her 100th day post transplant | WBC 95 (high)
    glucose 110 and | LDL 95 | Hb 95, with | cardioverted at 100 J | 90Y microspheres | ninety days | ninety mg
    one hundred percent | one hundred mg | ninety degrees | 92 male patients | 100 women | died at 10:30
    died at 95 minutes | died at 12 weeks | lives at 95 Elm | gestational age of 36 weeks | bone age of 12
    100+ WBC | mother, 95/60 | mother 95 kg | Female 95 kg | F/100 mg | FM/95 | she was 95 on 2L | Pt: 95, 120/80
    turned 90 to the left | turned 90 to her right side | turned 90 clockwise | 95 y T 36.5 | de 92 a 110 | 92 a casi
    mit 95 J. | mit 200 J. | 100 J. | 95 J
    cent mg | cem por cento | cien por cien | mit 100 J | mit 95 mg | Hundertstel | centenas | 100 % | PT 95
    glucemias de 95 y 110 mg/dl | TA de 110 y FC de 90 | S100 y CD99 | entre 95 y la saturación
    de 100 y posteriormente | cumplió 100 sesiones | fez 100 sessões
    in den neunziger Jahren | de negentiger jaren
"""


def brackets(text):
    return [part.split("]")[0] for part in text.split("[")[1:]]


@pytest.mark.parametrize("language", AGES)
def test_ages_over_89_are_hidden_and_stay_hidden_by_the_safe_harbor_rule(language):
    """Rules alone left "in her nineties", "She turned 95" and "a nonagenarian"."""
    forms = [form.strip() for line in AGES[language].strip().split("\n") for form in line.split("|")]
    texts = [form.replace("[", "").replace("]", "") for form in forms]
    expected = dict(zip(texts, map(brackets, forms), strict=True))
    rules = RuleTagger(["age"], language=language).fit([])
    found = {text: [text[s.start : s.end] for s in find_phi(text, language=language)] for text in texts}
    assert found == expected
    for labels in ("all", "hipaa"):
        redacted = NoteDeidentifier(rules, segmenter="rules", labels=labels).redact(texts)
        assert [t for t, r in zip(texts, redacted, strict=True) if any(phi in r for phi in expected[t])] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_values_of_the_same_look_stay(language):
    texts = [text.strip() for line in VALUES.strip().split("\n") for text in line.split("|")]
    assert [text for text in texts if find_phi(text, language=language)] == []
    rules = NoteDeidentifier(RuleTagger(language=language).fit([]), segmenter="rules")
    assert [a for a, b in zip(texts, rules.redact(texts), strict=True) if a != b] == []


def test_the_stop_behind_a_number_in_order():
    (span,) = find_phi("Ihr 95. Geburtstag", language="de")
    assert (span.start, span.end, span.label) == (4, 6, "AGE")


def test_each_rule_is_also_a_rule_for_ages_over_89():
    names = {rule.name for rule in OLD_AGE_RULES}
    assert names == {name.removesuffix("-over-89") for name in names} | {
        f"{name.removesuffix('-over-89')}-over-89" for name in names
    }
    assert find_phi("in her nineties, turned 95", recognizers=["age-over-89"]) != []
