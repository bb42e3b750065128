/** Something that is done at the press of a button: how it went is said in a message. */
import { App } from "antd";
import { useErrorText } from "./trouble";

const REFUSAL_S = 8;

/** Do `work`; say `done`, or why it was refused. Returns what came of it, and undefined where it was refused. */
export function useAttempt(): <R>(work: () => Promise<R>, done?: string) => Promise<{ made: R } | undefined> {
  const { message } = App.useApp();
  const errorText = useErrorText();
  return async (work, done) => {
    try {
      const made = await work();
      if (done !== undefined) message.success(done);
      return { made };
    } catch (error) {
      message.error(errorText(error).line, REFUSAL_S);
      return undefined;
    }
  };
}
