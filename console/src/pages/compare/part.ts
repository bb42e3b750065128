/** What every part of the page is given. */
import type { Comparison } from "../../api/types";
import type { CompareSearch } from "../../shared/address";

export interface PartProps {
  found: Comparison;
  search: CompareSearch;
  update: (change: Partial<CompareSearch>) => void;
}
