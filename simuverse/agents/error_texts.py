"""Tells the error text of a server from a reply of a model, where it comes in a reply's place. PURE.

Such a text has nothing in it that a model could mend, so it isn't quoted back: it never enters a prompt. Taking a
reply for one by mistake costs no more than being asked again without being told why.
"""

from __future__ import annotations

import re

_OURS = re.compile(
    r"<(?:memory|memory_queries|query|judgement|none_of_these|nothing_to_remember|turn|reflection|tool_use|tool_name|summary)[\s/>]"
)
"""An element of a form: whatever is wrong with it, a model wrote it."""

_LONGEST = 4_000
"""Characters. Errors of servers are short, pages in their place included."""

_ERROR = re.compile(
    r"""\berror\b\s*[:(\[#=-] | \berror\s+code\b | ["']errors?["']\s*: | \b[A-Z][A-Za-z]*(?:Error|Exception)\b
    | \bhttps?(?:/\d(?:\.\d)?)?\s+[45]\d\d\b | \b(?:status|code)\b\W{0,4}[45]\d\d\b
    | \b[45]\d\d\b\W{0,4}(?:error|too\smany|bad|internal|service|gateway|unauthori[sz]ed|forbidden|not\sfound|payload)
    | \b(?:internal|server)\s+(?:server\s+)?error\b | \bbad\s+gateway\b | \bgateway\s+time-?\s?out\b
    | \btoo\s+many\s+(?:requests|calls|tokens)\b | \brate[\s_-]*limit | \bquota\b | \bthrottl | \boverloaded\b
    | \b(?:temporarily|currently|service)\s+(?:un|not\s+)available\b
    | \b(?:timed|time)[\s-]?out\b | \bdeadline\s+exceeded\b
    | \bconnection\s+(?:was\s+)?(?:refused|reset|aborted|closed|error|lost)\b
    | \b(?:token|context)s?[\s_-]*(?:length|limit|window)[\s_-]*(?:was\s+|is\s+|has\s+been\s+)?exceeded
    | \bexceeds?\b.{0,40}\b(?:tokens?|context|limit)\b | \bmaximum\s+context\b
    | \b(?:invalid|incorrect|missing|expired)\s+(?:api[\s_-]*)?(?:key|token|credentials)\b
    | \b(?:insufficient|no)\s+(?:credits?|funds|balance)\b | \bbilling\b
    | \btraceback\s+\(most\s+recent | \bout\s+of\s+memory\b | \bmodel\b.{0,60}\b(?:not\s+(?:found|loaded)|is\s+loading)
    | \b(?:upstream|backend|worker)\b.{0,40}\b(?:failed|unavailable|error|crashed|disconnected)""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)


def is_error_text(reply: str) -> bool:
    """Whether a reply that can't be read is rather a server's error than a model's attempt."""
    return len(reply) <= _LONGEST and not _OURS.search(reply) and bool(_ERROR.search(reply))
