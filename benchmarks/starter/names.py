"""Names of many origins, as they are written in English notes: lists of Faker, in Latin letters."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from unicodedata import normalize

from sklearn_deid.surrogates import Chance
from sklearn_deid.surrogates.word_list import read_word_lists

# Locales of Faker for each origin. Names in other scripts are transliterated; lists without vowels (Arabic and Hebrew
# script) would give words that nobody writes, so that their names stand in names.txt.
_LOCALES = {
    "english": "en_US en_GB en_IE en_NZ",
    "spanish": "es_ES es_MX es_CO es_CL",
    "german_dutch": "de_DE de_AT nl_NL nl_BE",
    "french": "fr_FR fr_CA",
    "italian_portuguese": "it_IT pt_BR pt_PT ro_RO",
    "nordic": "sv_SE da_DK no_NO fi_FI",
    "slavic": "pl_PL cs_CZ hr_HR sk_SK ru_RU uk_UA bg_BG sl_SI",
    "baltic_hungarian": "hu_HU lt_LT lv_LV et_EE",
    "greek_armenian_georgian": "el_GR hy_AM ka_GE",
    "arabic": "fr_DZ",
    "turkish_persian": "tr_TR az_AZ uz_UZ",
    "indian": "en_IN",
    "pakistani": "en_PK",
    "african": "en_KE tw_GH yo_NG ig_NG ha_NG zu_ZA sw",
    "japanese": "ja_JP",
    "korean": "ko_KR",
    "chinese": "zh_CN zh_TW",
    "vietnamese": "vi_VN",
    "indonesian": "id_ID",
}
_CYRILLIC = dict(
    zip(
        "абвгдежзийклмнопрстуфхцчшщъыьэюяіїєґё",
        "a b v g d e zh z i y k l m n o p r s t u f kh ts ch sh shch  y  e yu ya i yi ye g e".split(" "),
        strict=True,
    )
)
_GREEK = dict(
    zip("αβγδεζηθικλμνξοπρσςτυφχψω", "a v g d e z i th i k l m n x o p r s s t y f ch ps o".split(), strict=True)
)
_ARMENIAN = dict(
    zip(
        "աբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆև",
        "a b g d e z e y t zh i l kh ts k h dz gh ch m y n sh o ch p j r s v t r ts v p k o f ev".split(),
        strict=True,
    )
)
_GEORGIAN = dict(
    zip(
        "აბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰ",
        "a b g d e v z t i k l m n o p zh r s t u p k gh q sh ch ts dz ts ch kh j h".split(),
        strict=True,
    )
)
_LETTERS = {**_CYRILLIC, **_GREEK, **_ARMENIAN, **_GEORGIAN, "ə": "a", "ı": "i", "ђ": "dj", "ł": "l", "ø": "o"}
_HANGUL = (
    "g kk n d tt r m b pp s ss  j jj ch k t p h".split(" "),
    "a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i".split(),
    " k k k n n n t l l l l l l l l m p p t t ng t t k t p t".split(" "),
)
_SHARE_HELD_OUT = 5  # one name of five


@cache
def names(origin: str, held_out: bool = False) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """First names and family names of an origin, for training or for measurements.

    A name is held out by a digest of its letters, so that no name is in both parts, whatever its origin.
    """
    first, last = _all_names(origin)
    return tuple(n for n in first if is_held_out(n) == held_out), tuple(n for n in last if is_held_out(n) == held_out)


@cache
def given_names(gender: str) -> tuple[str, ...]:
    """Held-out first names that Faker lists as "female" or "male" in some locale, and never as the other."""
    lists: dict[str, set[str]] = {"female": set(), "male": set()}
    for locale in " ".join(_LOCALES.values()).split():
        person = import_module(f"faker.providers.person.{locale}").Provider
        for kind, found in lists.items():
            found.update(_plain(list(getattr(person, f"first_names_{kind}", ())), ""))
    (other,) = lists.keys() - {gender}
    return tuple(sorted(name for name in lists[gender] - lists[other] if is_held_out(name)))


def origins() -> list[str]:
    """All origins."""
    written = {block.rpartition(" ")[0].replace(" ", "_") for block in _written() if " " in block}
    return sorted({*_LOCALES, *written})


def new_name(chance: Chance, parts: tuple[str, ...]) -> str:
    """Join the beginning of one name and the end of another, so that a tagger meets names that no list has."""
    a, b = chance.pick(parts), chance.pick(parts)
    cut = max(2, len(a) // 2 + chance.number(-1, 1))
    joined = a[:cut] + b[max(1, len(b) // 2 - chance.number(0, 1)) :].lower()
    return joined if 3 <= len(joined) <= 14 else a


_BEGINNINGS = (
    "b c d f g h j k l m n p r s t v w y z br ch cr dh dr fl gr gw kh kr kw mb nd ng ny ph qu rh sh shr sk".split()
)
_BEGINNINGS += ["", "", "", "sl", "st", "str", "sz", "th", "tr", "ts", "tw", "vl", "x", "zh"]
_VOWELS = "a e i o u a e i o u aa ae ai au ay ea ee ei eo ey ia ie io oa oe oo ou ua ue ui uo y".split()
_CLOSINGS = ["", "", "", "", *"b ck d f g h k l ll m n nd ng nn nt r rd rk rn rt s sh ss sz t th tt v x z".split()]


def invented_name(chance: Chance, most: int = 3) -> str:
    """A name of random syllables, so that a tagger must decide by the form of the word and by the words around."""
    parts = [chance.pick(_BEGINNINGS) + chance.pick(_VOWELS) for _ in range(chance.number(1, most))]
    word = "".join(parts) + chance.pick(_CLOSINGS)
    return word.capitalize() if len(word) > min(most, 2) else invented_name(chance, most)


@cache
def word_names(held_out: bool = False) -> tuple[str, ...]:
    """Names that are words elsewhere ("Hope", "Banks"), for training or for measurements."""
    return tuple(name for name in _written()["words"] if is_held_out(name) == held_out)


@cache
def _written() -> dict[str, tuple[str, ...]]:
    return read_word_lists(Path(__file__).parent / "names.txt")


@cache
def _all_names(origin: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    first, last = (list(_written().get(f"{origin.replace('_', ' ')} {part}", ())) for part in ("first", "last"))
    for locale in _LOCALES.get(origin, "").split():
        own_first, own_last = _of_locale(locale)
        first, last = [*first, *own_first], [*last, *own_last]
    if origin == "chinese":
        syllables = _written()["pinyin"]
        first += [a.capitalize() + b for a in syllables[::3] for b in syllables[1::7]]
    if origin == "korean":
        first += [a.capitalize() + sign + b for a, sign, b in zip(first, "- -" * len(first), first[1:], strict=False)]
    return tuple(_plain(first, origin)), tuple(_plain(last, origin))


def _of_locale(locale: str) -> tuple[list[str], list[str]]:
    # As in `surrogates`: the lists of Faker without its generator, whose draws depend on its version.
    person = import_module(f"faker.providers.person.{locale}").Provider
    if locale == "vi_VN":
        given = [*person.first_names_female, *person.first_names_male, *person.first_names_unisex]
        return given, list(person.last_names)
    if hasattr(person, "last_romanized_names"):
        return list(person.first_romanized_names), list(person.last_romanized_names)
    last = person.unisex_last_names if locale == "pl_PL" else person.last_names
    if isinstance(person.first_names, property):  # es_CL
        return [*person.first_names_female, *person.first_names_male], list(last)
    return list(person.first_names), list(last)


def _plain(names: list[str], origin: str) -> list[str]:
    """Latin letters, one word a name, in the order of the lists and without repetition."""
    words = (_latin(name.split()[0] if origin != "vietnamese" else name) for name in names if name.strip())
    return list(
        dict.fromkeys(
            w for w in words if len(without_accents(w)) > 1 and w[0].isalpha() and w[-1].isalpha() and not w.isupper()
        )
    )


def _latin(name: str) -> str:
    """A name in Latin letters. Accents stay: half of the notes keep them (see `forms`)."""
    if any("가" <= c <= "힣" for c in name):
        return "".join(_syllable(c) for c in name if "가" <= c <= "힣").capitalize()
    lowered = normalize("NFC", name).lower()
    plain = "".join(c if c.isascii() else _LETTERS.get(c, _LETTERS.get(normalize("NFD", c)[0], c)) for c in lowered)
    if plain == lowered:
        return normalize("NFC", name)
    return "-".join(part[:1].upper() + part[1:] for part in plain.split("-"))


def _syllable(character: str) -> str:
    index = ord(character) - ord("가")
    lead, rest = divmod(index, 588)
    vowel, tail = divmod(rest, 28)
    return _HANGUL[0][lead] + _HANGUL[1][vowel] + _HANGUL[2][tail]


def without_accents(name: str) -> str:
    """A name as an English keyboard writes it."""
    return "".join(c for c in normalize("NFD", name) if c.isascii())


def is_held_out(name: str) -> bool:
    """Whether no text of the training has this name."""
    digest = blake2b(without_accents(name).lower().encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") % _SHARE_HELD_OUT == 0
