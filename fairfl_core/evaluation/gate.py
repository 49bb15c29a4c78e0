"""A verdict as a gate: what a build server needs to stop where a limit no longer holds."""

from dataclasses import dataclass
from xml.etree import ElementTree

from fairfl_core.errors import InputError
from fairfl_core.evaluation.limit_check import Check
from fairfl_core.evaluation.verdict import MET, NOT_SURE, Verdict

PASSED, FAILED, UNSURE = 0, 1, 3  # exit codes


@dataclass(frozen=True)
class Gate:
    """Whether a verdict is the one required.

    Attributes
    ----------
    verdict : Verdict
    notion : str
    allow_unsure : bool
        Whether *not sure yet* passes.
    """

    verdict: Verdict
    notion: str
    allow_unsure: bool = False

    @classmethod
    def of(
        cls,
        verdict: Verdict | None,
        notion: str,
        require: str = MET,
        *,
        allow_unsure: bool = False,
    ) -> "Gate":
        """The gate of a verdict; refused where nothing was asked, so that nothing can be met."""
        if require != MET:
            raise InputError(f'--require takes "{MET}", not "{require}".')
        if verdict is None:
            raise InputError(
                "no limit was asked for, so there is nothing that could be met; give --policy with "
                "the limits, or a predictor that was solved within some."
            )
        return cls(verdict, notion, allow_unsure)

    @property
    def code(self) -> int:
        """How the process ends: 0 passed, 1 the verdict is worse, 3 undecided."""
        if self.verdict.word == NOT_SURE:
            return PASSED if self.allow_unsure else UNSURE
        return PASSED if self.verdict.word == MET else FAILED

    @property
    def _cases(self) -> list[tuple[str, int, str]]:
        """The verdict, and all that is asked: its name, its code and what there is to say of it."""
        verdict = self.verdict
        sentence = f"{verdict.word.upper()}. {verdict.why}"
        return [
            ("verdict", self.code, sentence),
            *((one.title, self._code_of(one), one.sentence()) for one in verdict.asked),
        ]

    def _code_of(self, check: Check) -> int:
        if check.is_broken:
            return FAILED
        passes = self.verdict.is_evident_of(check) or self.allow_unsure
        return PASSED if passes else UNSURE

    def to_junit(self) -> str:
        """JUnit XML: a test case for the verdict and for all that is asked.

        What failed is a failure, what is undecided an error.
        """
        cases = self._cases
        codes = [code for _, code, _ in cases]
        suite = ElementTree.Element(
            "testsuite",
            name=f"fairfl {self.notion}",
            tests=str(len(cases)),
            failures=str(codes.count(FAILED)),
            errors=str(codes.count(UNSURE)),
        )
        for name, code, sentence in cases:
            case = ElementTree.SubElement(suite, "testcase", classname="fairfl", name=_text(name))
            kind = {PASSED: "system-out", FAILED: "failure", UNSURE: "error"}[code]
            part = ElementTree.SubElement(case, kind)
            part.text = _text(sentence)
            if code != PASSED:
                part.set("message", part.text)
        ElementTree.indent(suite)
        return ElementTree.tostring(suite, "unicode", xml_declaration=True)

    def to_github(self, file: str = "") -> str:
        """Annotations of a GitHub workflow: the verdict, and whatever did not pass."""
        kinds = {PASSED: "notice", FAILED: "error", UNSURE: "warning"}
        where = f"file={_property(file)}," if file else ""
        return "\n".join(
            f"::{kinds[code]} {where}title={_property(f'fairfl: {name}')}::{_data(sentence)}"
            for name, code, sentence in self._cases
            if code != PASSED or name == "verdict"
        )


def _text(text: str) -> str:
    """Text that XML can hold: without letters that act, which it forbids."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
