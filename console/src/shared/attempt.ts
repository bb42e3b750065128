/** Something that is done at the press of a button: how it went is said in a message. */
import { App } from "antd";
import { useTranslation } from "react-i18next";
import { useErrorText } from "./trouble";

const REFUSAL_S = 8;

/** Do `work`; say `done`, or why it was refused. Returns what came of it, and undefined where it was refused. */
export function useAttempt(): <R>(work: () => Promise<R>, done?: string) => Promise<{ made: R } | undefined> {
  const { t } = useTranslation();
  const { message } = App.useApp();
  const errorText = useErrorText();
  return async (work, done) => {
    try {
      const made = await work();
      if (done !== undefined) message.success(done);
      return { made };
    } catch (error) {
      const { title, remedy } = errorText(error);
      // The server's titles have no full stop, since most stand alone.
      const sentence = /[.。]$/.test(title) ? `${title} ` : `${title}${t("mark.stop")}`;
      message.error(`${sentence}${remedy}`, REFUSAL_S);
      return undefined;
    }
  };
}
