/** What became of several jobs, said to the person. */
import { useQueryClient } from "@tanstack/react-query";
import { App } from "antd";
import { useTranslation } from "react-i18next";
import type { toSeveral } from "../../api/jobs";
import { useBilingual } from "../../i18n";
import { useErrorText } from "../../shared/ui";

/** Do something to several jobs, and say for how many it was done, and why not for others. Raises what is refused as a whole. */
export function useReport(): (
  work: () => ReturnType<typeof toSeveral>,
  words: (count: number) => string,
) => Promise<void> {
  const { t } = useTranslation();
  const { message } = App.useApp();
  const client = useQueryClient();
  const errorText = useErrorText();
  const pick = useBilingual();
  return async (work, words) => {
    try {
      const { done, refused } = await work();
      if (done.length > 0 || refused.length === 0) message.success(words(done.length));
      if (refused.length > 0)
        message.warning(`${t("jobs.refused", { count: refused.length })} ${pick(refused[0]?.title)}`, 8);
    } catch (error) {
      message.error(errorText(error).line, 8);
      throw error;
    } finally {
      for (const key of ["jobs", "job", "queue", "timeline"]) void client.invalidateQueries({ queryKey: [key] });
    }
  };
}
