/** A link that looks like a button. A button inside a link would be two stops for the keyboard, one of them without a focus to be seen. */
import { createLink } from "@tanstack/react-router";
import { Button } from "antd";

export const ButtonLink = createLink(Button);
