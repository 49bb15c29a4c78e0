"""A verdict as a gate: what a build server needs to stop where a limit no longer holds."""

from dataclasses import dataclass
from xml.etree import ElementTree

from fairfl_core.errors import InputError
from fairfl_core.evaluation.limit_check import LimitCheck
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
        """The verdict, and each limit: its name, its code and what there is to say of it."""
        verdict = self.verdict
        sentence = f"{verdict.word.upper()}. {verdict.why}"
        return [
            ("verdict", self.code, sentence),
            *((_name(one), self._code_of(one), _sentence(one)) for one in verdict.limits),
        ]

    def _code_of(self, limit: LimitCheck) -> int:
        if limit.is_broken:
            return FAILED
        conclusive = limit.is_conclusive or (self.verdict.is_evident and self.verdict.unseen)
        return PASSED if conclusive or self.allow_unsure else UNSURE

    def to_junit(self) -> str:
        """JUnit XML: a test case for the verdict and for every limit.

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
                part.set("message", _text(sentence))
        ElementTree.indent(suite)
        return ElementTree.tostring(suite, "unicode", xml_declaration=True)

    def to_github(self, file: str = "") -> str:
        """Annotations of a GitHub workflow: the verdict, and each limit that did not pass."""
        kinds = {PASSED: "notice", FAILED: "error", UNSURE: "warning"}
        where = f"file={_property(file)}," if file else ""
        return "\n".join(
            f"::{kinds[code]} {where}title={_property(f'fairfl: {name}')}::{_data(sentence)}"
            for name, code, sentence in self._cases
            if code != PASSED or name == "verdict"
        )


def _name(limit: LimitCheck) -> str:
    return "limit overall" if limit.client is None else f"limit in {limit.client}"


def _sentence(limit: LimitCheck) -> str:
    state = "broken" if limit.is_broken else "kept" if limit.is_kept else "cannot be told"
    return (
        f"{_name(limit)}: gap {limit.gap:.3f}, between {limit.low:.3f} and {limit.high:.3f}, where "
        f"{limit.eps:g} is allowed: {state} ({limit.behind})."
    )


def _text(text: str) -> str:
    """Text that XML can hold: without letters that act, which it forbids."""
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
