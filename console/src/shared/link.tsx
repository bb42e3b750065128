/**
 * A link that looks like a button. A button inside a link would be two stops for the keyboard, one of them without a focus to be seen.
 * The router keeps `type` to itself: the first of a page is `color="primary" variant="solid"`.
 */
import { createLink } from "@tanstack/react-router";
import { Button } from "antd";

export const ButtonLink = createLink(Button);
