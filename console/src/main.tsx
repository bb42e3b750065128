/** The entry point: mounts the gate. Ant Design and the pages come behind it (gate.tsx). */
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Gate } from "./gate";
import "./i18n";
import "./styles/index.css";

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");
createRoot(root).render(
  <StrictMode>
    <Gate />
  </StrictMode>,
);
