/** Downloads: the browser fetches them itself, whatever their size, with a ticket in place of the key that it cannot send. */
import { App } from "antd";
import { useCallback } from "react";
import { takeTicket } from "../api/session";
import { useErrorText } from "./ui";

/** Returns what begins the download of an address of the API; what goes wrong is said in a message. */
export function useDownload(): (address: string) => void {
  const { message } = App.useApp();
  const errorText = useErrorText();
  return useCallback(
    (address) => {
      takeTicket(address).then(
        (ticket) => fetchAway(ticket.address),
        (error: unknown) => {
          message.error(errorText(error).line, 6);
        },
      );
    },
    [errorText, message],
  );
}

function fetchAway(address: string, name = ""): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
}

/** Save what the page has already. */
export const saveText = (name: string, text: string): void => saveBlob(name, new Blob([text]));

export function saveBlob(name: string, blob: Blob): void {
  const address = URL.createObjectURL(blob);
  fetchAway(address, name);
  URL.revokeObjectURL(address);
}
