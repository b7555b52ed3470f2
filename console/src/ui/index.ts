/** Parts of views. None of them knows what it shows. */

export { Alarms } from "./alarms.tsx";
export { BarChart } from "./bar-chart.tsx";
export { Button } from "./button.tsx";
export { Chip, type Tone } from "./chip.tsx";
export { Choice } from "./choice.tsx";
export { CopyButton } from "./copy-button.tsx";
export { Dialog } from "./dialog.tsx";
export { Checkbox, Select, TextArea, TextField } from "./fields.tsx";
export { FormDialog } from "./form-dialog.tsx";
export { Glyph } from "./glyph.tsx";
export { ListEnd } from "./list-end.tsx";
export { emptyText, LiveState } from "./live-state.tsx";
export { Meter } from "./meter.tsx";
export { Panel } from "./panel.tsx";
export { Problem } from "./problem.tsx";
export { Properties } from "./properties.tsx";
export { SearchField } from "./search-field.tsx";
export { showNamesEscaped } from "./shown-names.ts";
export { Sparkline } from "./sparkline.tsx";
export { type Column, Table } from "./table.tsx";
export { Tile } from "./tile.tsx";
export { TimeLeft } from "./time-left.tsx";
export { announce, Toasts } from "./toast.tsx";
export { useSubmission } from "./use-submission.ts";
