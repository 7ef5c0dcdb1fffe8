"""Elements and attributes of WordprocessingML that a redacted Word file may hold.

The lists contain only elements that cannot hold text written by a person: formats, tables, sections, lists. A document
with any other element is refused.
"""

from __future__ import annotations

import re

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"
COMPATIBLE = "http://schemas.openxmlformats.org/markup-compatibility/2006"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
XML = "http://www.w3.org/XML/1998/namespace"
_WORD_2010 = "http://schemas.microsoft.com/office/word/2010/"
_PICTURE = "http://schemas.openxmlformats.org/drawingml/2006/picture"
SHAPES = {
    f"{_WORD_2010}wordprocessing{kind}": prefix
    for kind, prefix in (("Shape", "wps"), ("Group", "wpg"), ("Canvas", "wpc"))
}
VML = {
    "urn:schemas-microsoft-com:vml": "v",
    "urn:schemas-microsoft-com:office:office": "o",
    "urn:schemas-microsoft-com:office:word": "w10",
}
DRAWINGS = {
    "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing": "wp",
    DRAWING: "a",
    _PICTURE: "pic",
    **SHAPES,
}
#: Prefix of each namespace that the output may declare.
PREFIXES = {WORD: "w", RELATION: "r", MATH: "m", COMPATIBLE: "mc", **DRAWINGS, **VML, XML: "xml"}
#: What a graphic may hold. Charts and diagrams have texts in other parts.
GRAPHICS = {_PICTURE, *SHAPES}
#: Extensions of Word since 2010: effects and identifiers that are not needed to show the text.
EXTENSION = re.compile(
    r"http://schemas\.microsoft\.com/office/(word/20(0[6-9]|1[0-9]|2[0-9])|drawing/20\d\d|thememl/20\d\d)/"
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TRACKED = _words(
    """ins del moveFrom moveTo delText delInstrText cellIns cellDel cellMerge rPrChange pPrChange tblPrChange
    trPrChange tcPrChange sectPrChange tblGridChange tblPrExChange numberingChange moveFromRangeStart
    moveToRangeStart moveFromRangeEnd moveToRangeEnd customXmlInsRangeStart customXmlInsRangeEnd
    customXmlDelRangeStart customXmlDelRangeEnd customXmlMoveFromRangeStart customXmlMoveFromRangeEnd
    customXmlMoveToRangeStart customXmlMoveToRangeEnd"""
)
REMOVED = _words(
    """sdtPr sdtEndPr ffData proofErr permStart permEnd smartTagPr customXmlPr tblCaption tblDescription aliases rsid
    rsids latentStyles numPicBullet docVars attachedTemplate mailMerge divId lock personal personalCompose
    personalReply lvlPicBulletId legacy webHidden movie"""
)
#: Extensions, default shapes, and fonts of other scripts.
REMOVED_OF_DRAWINGS = _words("extLst objectDefaults custClrLst font")
EMBEDDED = _words("object OLEObject altChunk subDoc control contentPart")
UNWRAPPED = _words("smartTag customXml sdt sdtContent")
_BLOCKS = _words(
    """document body background p r t tab br cr noBreakHyphen softHyphen sym pgNum lastRenderedPageBreak ptab hyperlink
    fldSimple fldChar instrText bookmarkStart bookmarkEnd commentRangeStart commentRangeEnd commentReference
    annotationRef footnoteReference endnoteReference footnoteRef endnoteRef separator continuationSeparator
    footnotes footnote endnotes endnote comments comment hdr ftr drawing pict txbxContent ruby rubyPr rubyAlign hps
    hpsRaise hpsBaseText rt rubyBase lid dir dayShort monthShort yearShort dayLong monthLong yearLong"""
)
_RUNS = _words(
    """rPr rStyle rFonts b bCs i iCs caps smallCaps strike dstrike outline shadow emboss imprint noProof snapToGrid
    vanish color spacing w kern position sz szCs highlight u effect bdr shd fitText vertAlign rtl cs em lang
    eastAsianLayout specVanish oMath"""
)
_PARAGRAPHS = _words(
    """pPr pStyle keepNext keepLines pageBreakBefore framePr widowControl numPr ilvl numId suppressLineNumbers pBdr top
    left bottom right start end between bar tabs suppressAutoHyphens kinsoku wordWrap overflowPunct topLinePunct
    autoSpaceDE autoSpaceDN bidi adjustRightInd ind contextualSpacing mirrorIndents suppressOverlap jc textDirection
    textAlignment textboxTightWrap outlineLvl cnfStyle"""
)
_TABLES = _words(
    """tbl tblPr tblStyle tblpPr tblOverlap bidiVisual tblStyleRowBandSize tblStyleColBandSize tblW tblCellSpacing
    tblInd tblBorders insideH insideV tl2br tr2bl tblLayout tblCellMar tblLook tblGrid gridCol tr trPr tblPrEx
    gridBefore gridAfter wBefore wAfter cantSplit trHeight tblHeader hidden tc tcPr tcW gridSpan hMerge vMerge
    tcBorders noWrap tcMar tcFitText vAlign hideMark"""
)
_SECTIONS = _words(
    """sectPr headerReference footerReference footnotePr endnotePr type pgSz pgMar paperSrc pgBorders lnNumType
    pgNumType cols col formProt noEndnote titlePg rtlGutter docGrid pos numFmt numStart numRestart"""
)
_STYLES = _words(
    """styles docDefaults rPrDefault pPrDefault style name basedOn next link autoRedefine uiPriority semiHidden
    unhideWhenUsed qFormat locked tblStylePr"""
)
_LISTS = _words(
    """numbering abstractNum nsid multiLevelType tmpl styleLink numStyleLink lvl lvlRestart isLgl suff lvlText lvlJc
    num abstractNumId lvlOverride startOverride"""
)
WORD_ELEMENTS = _BLOCKS | _RUNS | _PARAGRAPHS | _TABLES | _SECTIONS | _STYLES | _LISTS
#: Settings that change how the text is shown. All other settings are left out.
SETTINGS = _words(
    """defaultTabStop evenAndOddHeaders mirrorMargins gutterAtTop autoHyphenation hyphenationZone
    consecutiveHyphenLimit doNotHyphenateCaps characterSpacingControl bordersDoNotSurroundHeader
    bordersDoNotSurroundFooter alignBordersAndEdges bookFoldPrinting drawingGridHorizontalSpacing
    drawingGridVerticalSpacing decimalSymbol listSeparator displayBackgroundShape themeFontLang clrSchemeMapping
    settings compat compatSetting"""
)
STYLE_REFERENCES = _words("pStyle rStyle tblStyle basedOn next link numStyleLink styleLink")
#: Attributes of the old drawing language that describe form and position only.
VML_ATTRIBUTES = _words(
    """coordsize coordorigin path adj filled stroked fillcolor strokecolor strokeweight on joinstyle gradientshapeok
    connecttype inset opacity color2 angle type focus arcsize from to dashstyle endcap textboxrect fitshape fitpath
    trim xscale aspectratio spt preferrelative connectangles anchorx anchory"""
)
#: Words of the names of Word's own styles.
STYLE_NAMES = _words(
    """normal heading title subtitle toc index list bullet number continue table of figures authorities macro caption
    footnote endnote text reference comment annotation subject body first indent header footer page line envelope
    address return signature salutation date closing message default paragraph font no plain grid light medium dark
    shading colorful accent simple classic columns contemporary elegant professional subtle web 3d effects theme
    hyperlink followedhyperlink strong emphasis intense quote book block document map html acronym cite code
    definition keyboard preformatted sample typewriter variable balloon revision placeholder bibliography outline
    article section spacing note char 1 2 3 4 5 6 7 8 9 (web) (normal) e-mail unresolved mention smart hashtag link"""
)
