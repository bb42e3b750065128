/** The kinds of cards that an image may be for (service/environments/definition.py). */
export const CARDS = ["cpu", "cuda", "rocm", "ascend", "cambricon"] as const;

export type Card = (typeof CARDS)[number];
