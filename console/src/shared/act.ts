/** What somebody does to a thing that has a page: whether it went well is said, and what is shown is read again. */
import { useQueryClient } from "@tanstack/react-query";
import { App } from "antd";
import { useErrorText } from "./ui";

/** Runs `act`, which returns the words of success ("": it shows by itself), and says what became of it; `read` again what is kept under these keys. */
export function useAct(read: readonly string[]): (act: () => Promise<string>) => Promise<boolean> {
  const { message } = App.useApp();
  const client = useQueryClient();
  const errorText = useErrorText();
  return async (act) => {
    try {
      const done = await act();
      if (done) message.success(done);
      for (const key of read) void client.invalidateQueries({ queryKey: [key] });
      return true;
    } catch (error) {
      message.error(errorText(error).line, 8);
      return false;
    }
  };
}
