"""Written forms of dates, ages and numbers by language, and clinical text of the same look. All are invented."""

import re

import pytest

from sklearn_deid import NoteDeidentifier, RuleTagger
from sklearn_deid.tagging.rules import LANGUAGES, find_phi
from sklearn_deid.tagging.rules.finding import RULES

# The letters and digits in brackets are PHI.
FORMS = {
    "en": """
        admitted [01.02.2019]-[05.02.2019] for
        [12-14.03.2019] stay
        [01/02/2019]-[05/02/2019]
        [01/02/19]-[05/02/19]
        [3-5 May 2019] admission
        [3–5 May 2019]
        [3 Jan '19]
        [Jan '19]
        [2019-Jan-03]
        [March 3 - 5, 2019]
        [May 3/19]
        on [thursday]
        in [january]
        winter [2018/2019]
        [2011-W19-4]
        week [19 of 2011]
        [20110512143000]
        [12.V.2011]
        [12-XI-11]
        [May the 12th]
        [12 to 14 May 2011]
        [12th-14th May]
        [12 & 13 May 2011]
        [May 12 to 14, 2011]
        on [May 12 and 13].
        from [5/12] to [5/14]
        between [5/12] and [5/14]
        Date: [5/12]
        DOS: [5/12]
        [Thanksgiving 2018]
        [New Year's Day 2011]
        [Fall '11]
        [Christmas 2018]
        [45] year olds
        age=[45]
        in his [60s]
        in her late [40s]
        [sixty] years of age
        [6]-month-old
        [3] week old
        [3]-day-old
        [45]/F
        [45] / M
        Tel: [020 7946 0123]
        [+44 20 7946 0123]
        [0044 20 7946 0123]
        [+1 555 010 0142]
        [02 9876 5432]
        [(01) 234 5678]
        [(555) - 010 - 0142]
        fax [5550100142]
        bleep [1234]
        [07700 900123]
        [(020) 7946 0123]
        [+1-555-010-0142] [x123]
        [555-010-0142 ext. 123]
        cell: [555/010-0142]
        tel:[+15550100142]
        MRN: [A1234567]
        MRN [12 34 56 7]
        MRN: [436434/875] seen
        MRN [884291] / 85 F
        NI number [QQ123456C]
        [QQ 12 34 56 C]
        NINO: [QQ123456C]
        PPS no [1234567TA]
        order # [1234567]
        specimen # [S11-12345]
        Case # [S11-1234]
        claim # [123456789]
        group # [12345]
        Member # [XYZ123456789]
        patient number [1234567]
        Patient No. [1234567]
        pt # [1234567]
        lab no [12345678]
        Rx# [1234567]
        Medicaid [12345678A]
        Tax ID: [12-3456789]
        sort code [12-34-56]
        routing number [021000021]
        SN: [AB123456]
        IBAN [DE89 3704 0044 0532 0130 01]
        iban [de89370400440532013001]
        MRN [1234567]/DOB
        visit on [12/03/2011]
        Hospital no. [H123456]
        Hosp No: [123456]
        Patient ID: [P-1234567]
        Encounter [12345678]
        visit no [1234567]
        accession [S19-12345]
        Accession #: [19-AB-12345]
        case no. [S-19-12345]
        IMEI [490154203237518]
        passport [123456789]
        MAC [00:1A:2B:3C:4D:5E]
        [2001:db8::8a2e:370:7334]
        [example.org/portal]
        SSN [123 45 6789]
        SSN: xxx-xx-[6789]
        SSN xxx xx [6789]
        SSN: *** ** [6789]
        SSN xxxxx[6789]
        SSN (ends in [6789])
        SS# ending [6789]
        last four of her social: [6789]
        SSN [123.45.6789]
        SSN=[123456789]
        social security number [123 45 6789]
        DL# [A1234567]
        DL: [A123-4567-8901]
        DL number [12345678]
        Medicaid # [12345678A]
        plate [ABC 1234]
        card [4111 1111 1111 1111]
        card [3782 822463 10005]
        card [378282246310005]
        [4111-1111-1111-1111]
        since [2019-03]
        [2019-03], scan
        London [SW1A 1AA]
        [EC1A 1BB]
        [M1 1AE]
        Toronto ON [M5V 2T6]
    """,
    "es": """
        del [3 al 5 de mayo de 2019]
        [01/02/2019]-[05/02/2019]
        el [12/03]
        DNI nº [12.345.678]
        DNI: [12345678]
        CUIL [20-12345678-3]
        RUT [12.345.678-5]
        cédula [1.234.567.890]
        H.C.: [123456]
        HC: [123456]
        matrícula [1234 BCD]
        placa [ABC 123]
        placa [AB-1234]
        placa [1234 BCD]
        del [12 al 14/05/2019]
        [12/V/2019]
        [3/mayo/2019]
        [3 may 2019]
        [03-MAY-2019]
        [03/ene/19]
        [may-19]
        [05-2019]
        [1º de mayo]
        [1 de MAYO de 2.019]
        Varón [54 años]
        Mujer de [54] a.
        paciente [54 años]
        RN de [3 días]
        ext. [4021]
        extensión [4021]
        busca [4021]
        Nº Hª: [925546]
        Hª Clínica: [925546]
        Nº historia [925546]
        historia nº [925546]
        NHC: [436434/875]
        CIP [ABCD123456789012]
        SIP [12345678]
        DNI: [12.345.678-Z]
        NASS [28/12345678/40]
        NSS [281234567840]
        Nº colegiado [282812345]
        colegiado nº [28/12345]
        N.º Col.: [282812345]
        CURP [ROEA500303HDFXXX09]
    """,
    "de": """
        [01.02.2019]-[05.02.2019]
        [0049 30 12345678]
        [00 49 461 708223]
        [01.02.]-[05.02.2019]
        [01.02. - 05.02.2019]
        [12.-14.03.2019]
        Krankenversicherungsnummer [A123456789]
        RVNR [12 345678 A 123]
        [756.1234.5678.97]
        Personalausweis [L01X00T47]
        Konto-Nr. [1234567]
        Kennzeichen [FL-AB 123]
        KW [19/2019]
        [12.V.2019]
        [03.2019]
        [12.3.´19]
        [54] LJ
        im [54]. Lebensjahr
        [8] Monate alter
        [8] Monate alt
        DW [223]
        Durchwahl [-223]
        Piepser [4021]
        in [24937] Flensburg
        wohnhaft in [24937 ]Flensburg
        A-[1010] Wien
        CH-[8001] Zürich
        Fall Nr [6733340001]
        PatID [123456]
        Pat.ID: [123456]
        Versicherten-Nr. [A 123 456 789]
        IK [123456789]
        BSNR [123456789]
        Journalnr. E/[19/12345]
        E.-Nr.: [E/2019/012345]
        Histo-Nr. [H12345/19]
        Eingangsnr. [12345-19]
        Aktenzeichen [4711/08]
        SV-Nr. [65 170839 J 003]
        IBAN [DE89370400440532013000]
        IBAN [DE89 3704 0044 0532 0130 00]
    """,
    "fr": """
        [01/02/2019]-[05/02/2019]
        du [12 au 14 mars 2019]
        le [12/03]
        [AB-123-CD]
        carte d'identité [123456789012]
        passeport [12AB34567]
        du [12 au 14/05/2019]
        [01/42/16/10/02]
        [02 123 45 67]
        [0475/12.34.56]
        [022 345 67 89]
        [00 33 1 42 16 10 02]
        [03-2019]
        H [54] ans
        Mme X, [54] ans
        poste [4021]
        DECT [4021]
        [75013] PARIS
        F-[75013] Paris
        n° de sécurité sociale : [1 84 12 76 451 089 46]
        FINESS [750100123]
        examen n° [19H12345]
        n° d'examen [19H12345]
    """,
    "nb": """
        [01.02.2019]-[05.02.2019]
        [12.-14.03.2019]
        den [12/3]
        kontonr [1234.56.12345]
        reg.nr [AB 12345]
        uke [19 2019]
        [0047 912 34 567]
        [12/3-19]
        [12/3-2019]
        [3. mai -19]
        [mai -19]
        [05.2019]
        [54] år gml
        [8] mnd gammel
        [3] uker gammel
        mob. [91234567]
        calling [4021]
        faks: [22334456]
        [0450] OSLO
        N-[0450] Oslo
        fnr. [010107 50160]
        D-nr [41010750160]
        PID [123456]
        NPR [1234567]
    """,
    "it": """
        [01/02/2019]-[05/02/2019]
        dal [3 al 5 maggio 2019]
        il [12/03]
        carta d'identità [AX1234567]
        patente [RM1234567X]
        targa [AB 123 CD]
        P.IVA [12345678901]
        [12/V/2019]
        [0039 06 12345678]
        aa [54]
        paziente di [54] aa
        donna [54] a.
        M, [54] anni
        [333.1234567]
        [333 12 34 567]
        [3331234567]
        int. [4021]
        via Roma 3 - [00184] Roma
        I-[00184] Roma
        cartella n. [123456]
        cartella clinica n° [2019/12345]
        codice fiscale [RSS MRA 85T10 A562S]
        n. ricovero [12345]
    """,
    "pt": """
        [01/02/2019]-[05/02/2019]
        de [3 a 5 de maio de 2019]
        em [12/03]
        matrícula [AA-12-BB]
        placa [ABC1D23]
        placa [ABC-1234]
        placa [AA-12-BB]
        [01310-100] São Paulo
        [0055 11 91234-5678]
        [03/mai/2019]
        [jan/19]
        doente do sexo feminino, [54] anos
        ♀ [54] anos
        [912345678]
        tlm [912345678]
        [(11) 91234-5678]
        [(11) 3456-7890]
        [11 91234-5678]
        ext [4021]
        CEP [01310-100]
        CEP: [01310100]
        CPF [123.456.789-09]
        o doente, [529.982.247-25], tem
        [52998224725]
        desde [2019-03]
        RG [12.345.678-9]
        CNS [123 4567 8901 2345]
        CRM [123456]
        CRM-SP [123456]
        CRM/SP [123.456]
        prontuário [123456]
        registro [1234567]
    """,
    "nl": """
        [01-02-2019]/[05-02-2019]
        van [3 tot 5 mei 2019]
        op [12-03]
        op [12/3]
        [50.05.12-123.45]
        kenteken [AB-123-C]
        [12 tot 14.5.2019]
        [02/123.45.67]
        dd [12-3]
        [3 mei '19]
        [05-2019]
        mevr. [54] jr
        [8] maanden oud
        [0201234567]
        [06 12 34 56 78]
        toestel [4021]
        tst [4021]
        sein [4021]
        BSN: [111.222.333]
        BSN [1112.22.333]
        pat.nr. [1234567]
        patnr [1234567]
        PID [1234567]
        opnamenr [1234567]
    """,
}
NO_PHI = """
    1/2 tab|10-20 mg|120/80|3/5|5/5 strength|4-5/10|ICD I10, E11.9, C50.9|v2.3.1|Version 10.0.19041
    98.6|7.35-7.45|7.35/45/90|135-145 mmol/l|2x1|1-0-1|1-0-1-0|0-0-1|1/2-0-1/2
    T4N1M0|HER2 3+|BRCA1|CYP2D6|CD4 350|L4-5|C5/6|20/40|6/9
    10:15|10.15-11.30|08:00-12:00|1:1000|2:1|3 x 5 cm|3x5x7 mm|12 x 10^9/l|Hb 12.3
    K 3.5|pH 7.4|INR 2.5|EF 55%|SpO2 98%|GCS 15/15|NYHA II-III|ASA 3|Apgar 9/10/10
    BMI 27.5|38.5 °C|GFR 45|creat 1.2 (0.7-1.3)|TSH 2.01|HbA1c 6.5%|1000 ml|2000 IE|2000 mg
    5000 U|10 000|1.000.000|6 MV|18 MeV|50 Gy in 25|2.0 Gy|chr7:140453136|c.1799T>A
    p.V600E|NM_004333.4|rs12345|del(17p)|t(9;22)|46,XX|5 French|20G|16 G
    27.5 kg|175 cm|100 mcg|q6h|x3 days|x1|3-4 times|24/7|1.5.3
    par. 3.2.1|Fig. 3.2|p. 45|CPT 99213|LOINC 2345-7|SNOMED 38341003|ATC C09AA05|ICD-10 F32.1|ICD-9 250.00
    Hb 12 g/dl 1234|13.5 g/DL 12-16|4111 1111 1111 1112|12345678901|11111111111|2000-10 mg|2500-03|2000-13
    12-lead|3-0 vicryl|2-0|5-FU|Ca 19-9|CA 125|CA 15-3|beta-2|6-0-6
    100-150|80-100/min|15-20/min|II/VI|2/6 systolic|1/3|2/3|3/4|1/12 months
    0.9%|5%|N=12|p<0.05|95% CI 1.2-3.4|OR 2.3|35 U/l|GOT 35|GPT 40
    CK 1200|LDH 245|BZ 110|pCO2 40|RR 120/80|HF 80|8/10|VAS 3-4|MMSE 28/30
    MoCA 26/30|ECOG 1|Gleason 3+4=7|Gleason 4+3|PSA 4.5|S1 S2|D1-D5|d1-21|C1D1
    C 2 D 15|mg/m2|AUC 5|QTc 450|PR 160|QRS 90|12/12|6/52|2/7
    3/7 abx|1/7
"""


def covered(text, language):
    """Text with a dot for each letter and digit inside of a span."""
    inside = {i for span in find_phi(text, language=language) for i in range(span.start, span.end)}
    return "".join("." if i in inside and c.isalnum() else c for i, c in enumerate(text))


@pytest.mark.parametrize(
    ("language", "form"), [(name, form.strip()) for name in FORMS for form in FORMS[name].strip().split("\n")]
)
def test_forms_are_hidden(language, form):
    hidden, is_phi = "", False
    for sign in form:
        is_phi = sign == "[" or (is_phi and sign != "]")
        hidden += "" if sign in "[]" else "." if is_phi and sign.isalnum() else sign
    found = covered(form.replace("[", "").replace("]", ""), language)
    assert [a for a, b in zip(found, hidden, strict=True) if b == "." != a] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_doses_scores_and_measures_stay(language):
    texts = [text.strip() for line in NO_PHI.strip().split("\n") for text in line.strip().split("|")]
    for frame in ("{}", "is {} and", "{}. Next", "{}, {}"):
        assert [text for text in texts if find_phi(frame.format(text, text), language=language)] == []


@pytest.mark.parametrize(("text", "language"), [
    ("x1 May repeat", "en"),
    ("2. May repeat, 1-2 May repeat", "en"),
    ("increased by 5-10 mg", "en"),
    ("pain from 8/10 to 3/10", "en"),
    ("on 3/4 strength formula, on 1/2 dose, pain on 7/10 scale, up by 10/20 mmHg, on 1/2 tab, since 3/5 power", "en"),
    ("Dec 2 mg, may 3 times, march 5 miles, dec 5 points".lower(), "en"),
    ("Apgar 9/10/10, Apgar: 8/9/10, Apgars 8/9/10, Apgar scores were 8/9/10", "en"),
    ("HTN for 20 yrs, DM x 15 yrs, 1 ppd x 30 yrs, 10 yrs ago, for the last 10 yrs, smoked 20 yrs, q 2 yrs", "en"),
    ("5 yr follow up, 5 yr survival, in 3 yrs, 20 yrs of smoking, sober 20 yrs, 5 yrs prior, over 20 yrs", "en"),
    ("temp up to 101 F, 24 F chest tube, 30 F bougie, 12 M solution, 37 M cells", "en"),
    ("version 10.2.1.5, v. 10.2.1.5", "en"),
    ("between 8/10 and 3/10, between 3/5 and 4/5 strength, grade 2/VI/VI, class II/IV, week 19", "en"),
    ("new year's resolution, fall 12, 2011W1234, 2.00 123 4567", "en"),
    ("12 bis 14 Tage, KW 19", "de"),
    ("rs12345 Mutación, PLACA 12 MM, placa 3 x 4, IC 50, CI 1234567", "es"),
    ("order 1234, case 1234, group 2019, in group no 2, pt no 120/80, CD 12 34 56, AB 12 34 56 X", "en"),
    ("12345-678 mg, 06 4561 210", "pt"),
    ("en el 1/3 medio, día 1/21", "es"),
    ("al 1/3 medio", "it"),
    ("op 10-12 uur", "nl"),
    ("Phase 1 - 9/2014/3", "fr"),
    ("pain.no fever, seen.it was", "en"),
    ("T1N 0M0", "en"),
    ("PPS 30-40%, PPS: 3000", "en"),
    ("HC: 150 g, HC: 2000, H.C: 3500", "es"),
    ("PLACA DE 12 MM, PLACA L4-L5, PLACA TORAX 2 P, placa PA 12 cm", "es"),
    ("PLACA DE 12 MM, placa MDF 30 cm", "pt"),
    ("Kennzeichen T2 N1 M0", "de"),
    ("10:05 120 80 72, 08h05 120 80 98, 08 h 00 120 80 98", "fr"),
    ("at 10:15:30 and 12:30:45:10", "en"),
    ("15000 PLAQ", "fr"),
    ("seen 2-3 times, since 2-3 weeks, on 1-2 pillows, until 2-3 days after", "en"),
    ("on 2-4 L NC, on 2-3L of oxygen, seen 1-2 weeks ago, by 3-4 points", "en"),
    ("Temp 101 F, Temp: 99 F, T=100F, temp of 102 F, febrile to 103 F, fever was 102", "en"),
    ("metformin MR 500 mg, x2000 mL, 400-1200 mg, x 5000 units, 1 unit 350 ml", "en"),
    ("TX 75000 cells, SS 2500 mg, ID 1000 mcg", "en"),
    ("of 2000 calories, of 2000 mEq, of 2000 ng, until 2000 hours", "en"),
    ("OCT-4 positive", "en"),
    ("12500 Leucocitos, 15000 Plaquetas", "es"),
    (", 15000 Leucocytes, 250000 Plaquettes", "fr"),
    ("1500 ML NaCl, 1000 MG Paracetamol, 2500 IE Fragmin", "nl"),
])  # fmt: skip
def test_text_of_the_same_look_stays(text, language):
    assert find_phi(text, language=language) == []


@pytest.mark.parametrize("language", FORMS)
def test_vital_signs_behind_a_time_are_no_telephone_number(language):
    """The minutes "00" were read as the zeros before the code of a country."""
    for text in ("08:00 120/80 72 16 98", "12:00 118/76 68 14 97", "06:00 98.6 72 16", "8 : 00 120 80 72 98"):
        assert find_phi(text, language=language) == []


@pytest.mark.parametrize(("text", "spans"), [
    ("on 3/4 L arm, on 3/4 AM, on 3-4 he", ["3/4", "3/4", "3-4"]),
    ("MRN 1234567 g-tube, fax 555-010-0142 cc: Dr, MRN 123456 kg", ["1234567", "555-010-0142", "123456"]),
    ("a 98F with pain, Smith, T 95F", ["98", "95"]),
    ("45 yr male, age 45 yrs, pt is 45 yrs, 45 yrs. Roe, 45 yrs of age", ["45"] * 5),
    ("24 F chest pain, 12 M with, on 8/9/10", ["24", "12", "8/9/10"]),
    ("May 12 to 14 patients, May 12 and 3 days later", ["May 12", "May 12"]),
    ("Mar-04-2019, Mar/04/19", ["Mar-04-2019", "Mar/04/19"]),
    # Correcting scanner errors, these letters were digits.
    ("K1A 0B1, M5V 2S6, H2Z 1B4", ["K1A 0B1", "M5V 2S6", "H2Z 1B4"]),
    # A unit is a whole word: "gave" begins like "g".
    ("in 2002 gave up", ["2002"]),
    # The age took the day, and the rest was no date.
    ("DOB/Age: 12 May 1940 / 80", ["12 May 1940"]),
    ("Phase 1 - 09/03/2014", ["09/03/2014"]),
    ("12.-14.03.2019", ["12.-14.03.2019"]),
    ("01/02/19-05/02/19", ["01/02/19", "05/02/19"]),
    ("2019-02-01 - 2019-02-05, 2019-02-01/2019-02-05", ["2019-02-01", "2019-02-05"] * 2),
])  # fmt: skip
def test_borders(text, spans):
    assert [text[span.start : span.end] for span in find_phi(text)] == spans


@pytest.mark.parametrize(
    "text",
    ["DOB 03051950", "DOB: 03 05 1950", "geb. 030550", "født 1950", "né en 1950", "F. Nac: 03051950", "born 1950"],
)
def test_dates_of_birth_need_no_signs(text):
    digits = "".join(sign for sign in text if sign.isdigit())
    (span,) = find_phi(text, language="nb")
    assert text[span.start : span.end].replace(" ", "") == digits
    assert find_phi("DOB 99991950, born 3200 g, geb. 3051", language="de") == []


@pytest.mark.parametrize(("language", "text"), [
    ("en", "is [92] years and"),
    ("en", "for [95] yrs"),
    ("es", "Sofía, [92 años] y"),
    ("de", "klagt [92] Jahre"),
    ("fr", "Mme X, [92] ans et"),
    ("nb", "hun [101] år og"),
    ("it", "lei [92] anni e"),
    ("pt", "a [92] anos e"),
    ("nl", "dhr. X, [92] jaar en"),
])  # fmt: skip
def test_a_number_of_years_over_89_is_an_age(language, text):
    plain, phi = text.replace("[", "").replace("]", ""), text[text.index("[") + 1 : text.index("]")]
    for recognizers in (None, ["age-over-89"]):
        spans = find_phi(plain, language=language, recognizers=recognizers)
        assert [plain[span.start : span.end] for span in spans] == [phi]
    shorter = plain.replace("92", "32").replace("95", "32").replace("101", "32")
    assert find_phi(shorter, language=language, recognizers=["age-over-89"]) == []


@pytest.mark.parametrize("blank", "\u00a0\u2007\u2009\u202f\u3000_")
@pytest.mark.parametrize(("language", "text"), [
    ("en", "at [555 010 0142]"),
    ("en", "NHS [943 476 5919]"),
    ("en", "SSN [123 45 6789]"),
    ("en", "[4111 1111 1111 1111]"),
    ("en", "[SW1A 1AA] "),
    ("en", "MRN [1234567] seen"),
    ("fr", "le [12 mars 2019], [01 42 16 10 02]"),
    ("fr", "NIR [1 85 05 78 006 084 36]"),
    ("pt", "Tel. [912 345 678]"),
    ("es", "Tlf. [609 518 571], el [3 de mayo de 2011]"),
])  # fmt: skip
def test_blanks_of_other_widths_and_underscores_are_spaces(language, text, blank):
    """In raw text, telephone numbers with such blanks stayed, as word processors write them in French."""
    text, phi = text.replace(" ", blank), [part.split("]")[0] for part in text.replace(" ", blank).split("[")[1:]]
    text = text.replace("[", "").replace("]", "")
    assert [text[span.start : span.end] for span in find_phi(text, language=language)] == phi


def test_underscores_of_addresses_stay():
    text = "Mail john_roe@example.org, see https://example.org/a_b, www.example.org/c_d and NM_007294.3, c.68_69delAG"
    found = [text[span.start : span.end] for span in find_phi(text, language="en")]
    assert found == ["john_roe@example.org", "https://example.org/a_b", "www.example.org/c_d"]
    for text in (
        "john.roe@example.org_2011-05-12",
        "roe@example.org-2011",
        "www.example.org_scan",
        "roe@example.org_1_x",
    ):
        assert covered(text, "en").startswith(re.sub(r"\w", ".", re.split("_|-", text)[0])), text


def test_days_before_the_last_day_of_a_german_date():
    """The first day of two stayed: "12. bis" is no end of the day's sentence in raw text."""
    for text in ("12. bis 14. Mai 2019", "12. und 13. Mai 2019", "12./13. Mai 2019", "12. bis 14.5.2019"):
        assert [text[span.start : span.end] for span in find_phi(text, language="de")] == [text]


def test_departments_of_corsica():
    texts = ["2 85 05 2A 006 084 36", "285052A006084", "1 85 05 2B 006 084 36"]
    assert [covered(text, "fr").strip(". ") for text in texts] == [""] * 3
    assert NoteDeidentifier(RuleTagger(language="fr").fit([])).redact(texts) == ["[SSN]"] * 3


def test_iban_needs_its_check_digits():
    assert covered("DE89 3704 0044 0532 0130 00 und", "de") == ".... .... .... .... .... .. und"
    assert covered("DE88 3704 0044 0532 0130 00", "it").startswith("DE88")


def test_ages_in_months_are_not_over_89():
    over = [rule.name for rule in RULES if rule.family == "age-over-89"]
    assert not [name for name in over if "child" in name or "months" in name]
    assert find_phi("a 95-month-old, in her 90s", recognizers=["age-over-89"])[0].start == 23
    assert len(find_phi("one hundred years old", recognizers=["age-over-89"])) == 1


def test_keywords_with_a_turkish_capital_i_do_not_skip_the_rule():
    """A regular expression that ignores case reads this letter as an i, and `str.casefold` as two characters."""
    text = "CL\u0130N\u0130C, UN\u0130T NO: 57369932, MEMBER \u0130D: 12345678"
    found = find_phi(text, language="en")
    assert [text[span.start : span.end] for span in found] == ["57369932", "12345678"]
