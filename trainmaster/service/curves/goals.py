"""Which value of a metric is the better one, by its name. Pure."""

import re
from typing import Final, Literal

Goal = Literal["min", "max"]

_LOW: Final = re.compile(r"\b(loss|error|err|perplexity|ppl|nll|mae|mse|rmse|wer|cer|fid)\b|loss$")
_HIGH: Final = re.compile(
    r"\b(acc\w*|f1|auc|auroc|precision|recall|bleu|rouge\w*|map|miou|iou|dice|score|reward|return|r2|psnr|ssim"
    r"|top1|top5)\b"
)
"""The same words as in the console's `pages/job/curves.ts`; a test compares the two."""


def goal_of(name: str) -> Goal | None:
    """Return whether less or more of a metric is better; None where the name does not say."""
    words = re.sub(r"[^a-z0-9]+", " ", name.lower())
    if _LOW.search(words):
        return "min"
    return "max" if _HIGH.search(words) else None
