"""Labels of the kinds of PHI that rules find, in each label scheme."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...text import BINARY, I2B2_2014, MEDDOCAN

KINDS = (
    "EMAIL URL IPADDR PHONE FAX SSN DATE AGE ZIP "
    "MEDICALRECORD HEALTHPLAN ACCOUNT LICENSE VEHICLE DEVICE VISIT NATIONALID"
).split()

# i2b2 2014 has no labels for visits and national identifiers: both have its general label for identifiers.
_I2B2 = {**{kind: kind for kind in KINDS}, "VISIT": "IDNUM", "NATIONALID": "IDNUM"}
_MEDDOCAN = {
    "EMAIL": "CORREO_ELECTRONICO",
    "URL": "URL_WEB",
    "IPADDR": "DIREC_PROT_INTERNET",
    "PHONE": "NUMERO_TELEFONO",
    "FAX": "NUMERO_FAX",
    "SSN": "ID_ASEGURAMIENTO",
    "DATE": "FECHAS",
    "AGE": "EDAD_SUJETO_ASISTENCIA",
    "ZIP": "TERRITORIO",
    "MEDICALRECORD": "ID_SUJETO_ASISTENCIA",
    "HEALTHPLAN": "NUMERO_BENEF_PLAN_SALUD",
    "ACCOUNT": "OTRO_NUMERO_IDENTIF",
    "LICENSE": "ID_TITULACION_PERSONAL_SANITARIO",
    "VEHICLE": "IDENTIF_VEHICULOS_NRSERIE_PLACAS",
    "DEVICE": "IDENTIF_DISPOSITIVOS_NRSERIE",
    "VISIT": "ID_CONTACTO_ASISTENCIAL",
    "NATIONALID": "ID_SUJETO_ASISTENCIA",
}
LABEL_MAPS: Mapping[str, Mapping[str, str]] = {
    "i2b2-2014": _I2B2,
    "meddocan": _MEDDOCAN,
    "binary": {kind: "PHI" for kind in KINDS},
}
_SCHEMES = {"i2b2-2014": I2B2_2014, "meddocan": MEDDOCAN, "binary": BINARY}


def rule_label_map(scheme: str | Mapping[str, str | None]) -> dict[str, str | None]:
    """Label of each kind of PHI in a label scheme. Kinds with the label None are not tagged.

    Parameters
    ----------
    scheme : {"i2b2-2014", "meddocan", "binary"} or mapping of kind to label or None
        Name of a scheme, or a mapping. Kinds that are missing in the mapping have the label None.

    Raises
    ------
    ValueError
        If the scheme or a kind is unknown, or a label is neither a str nor None.

    Examples
    --------
    >>> rule_label_map("meddocan")["DATE"], rule_label_map({"DATE": "WHEN"})["AGE"]
    ('FECHAS', None)
    """
    if isinstance(scheme, str):
        if scheme not in LABEL_MAPS:
            raise ValueError(
                f"The label scheme must be one of {sorted(LABEL_MAPS)} or a mapping. Got {scheme!r} instead."
            )
        return dict(LABEL_MAPS[scheme])
    unknown = sorted(map(str, set(scheme) - set(KINDS)))
    if unknown:
        raise ValueError(f"Rules do not find the kind {unknown[0]!r}. The kinds are {KINDS}.")
    if not all(label is None or (isinstance(label, str) and label) for label in scheme.values()):
        raise ValueError("Each label of a mapping must be a str or None.")
    return {kind: scheme.get(kind) for kind in KINDS}


def infer_label_map(labels: Iterable[str]) -> dict[str, str | None]:
    """Label map of the first scheme (i2b2 2014, MEDDOCAN, binary) that contains all given labels.

    Without labels, the result is the map of i2b2 2014.

    Raises
    ------
    ValueError
        If no scheme contains all labels.

    Examples
    --------
    >>> infer_label_map(["FECHAS", "PAIS"])["EMAIL"]
    'CORREO_ELECTRONICO'
    """
    given = set(labels)
    # A label may belong to several schemes. The order of the schemes decides.
    for name, scheme in _SCHEMES.items():
        if given <= set(scheme.labels):
            return rule_label_map(name)
    raise ValueError(
        f"The labels of y belong to none of the schemes {sorted(_SCHEMES)}. Set 'label_scheme' to a mapping from the "
        f"kinds of the rules to your labels, such as {{'DATE': 'MY_DATE'}}. The kinds are {KINDS}."
    )
