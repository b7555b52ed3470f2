/** One memory region: its properties, and its bytes page by page. */

import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { type MemoryRegion, readMemory } from "../../api/index.ts";
import { usePolled } from "../../live/index.ts";
import { bytesOfBase64, countText, hexLines, instantText, sizeText } from "../../text/index.ts";
import { Button, CopyButton, emptyText, Glyph, LiveState, Panel, Properties, SearchField } from "../../ui/index.ts";
import { memoryPage, offsetOf, PAGE_BYTES } from "./memory-page-range.ts";
import { FreeDialog, ResizeDialog, WriteDialog } from "./region-dialogs.tsx";

export interface RegionPanelProps {
  readonly namespace: string;
  readonly region: MemoryRegion;
  readonly isWritable: boolean;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

const POLL_MS = 10_000;
const HEX = 16;

export function RegionPanel({ namespace, region, isWritable, onClose, onChanged }: RegionPanelProps): JSX.Element {
  const start = useSignal(0);
  const dialog = useSignal<"write" | "resize" | "free" | null>(null);
  const { regionId } = region;
  const sizeBytes = Number(region.sizeBytes);
  const { offset, length, previous, next } = memoryPage(start.value, sizeBytes);
  const { loaded, refresh } = usePolled(
    (signal, isBackground) => readMemory({ namespace, regionId, offset, length }, { signal, isBackground }),
    POLL_MS,
    [namespace, regionId, offset, length],
  );
  const { value } = loaded.value;
  const version = value?.version ?? region.version;
  const seen = { namespace, regionId, expectedVersion: version };
  const go = (to: number): void => {
    start.value = to;
  };
  const changed = (): void => {
    void refresh();
    onChanged();
  };
  const close = (): void => {
    dialog.value = null;
  };
  return (
    <Panel
      label={`Memory region ${region.label || regionId}`}
      title={region.label || <span class="mono">{regionId}</span>}
      tools={<CopyButton text={regionId} label="Copy the id of the region" />}
      onClose={onClose}
    >
      <p class="muted mono panel-id">{regionId}</p>
      <Properties
        items={[
          ["Size", sizeText(sizeBytes)],
          ["Version", countText(Number(version))],
          ["Allocated", instantText(Number(region.createdAtMs))],
        ]}
      />
      {isWritable && (
        <div class="actions">
          <Button
            onClick={() => {
              dialog.value = "write";
            }}
          >
            Write
          </Button>
          <Button
            onClick={() => {
              dialog.value = "resize";
            }}
          >
            Resize
          </Button>
          <Button
            kind="danger"
            onClick={() => {
              dialog.value = "free";
            }}
          >
            Free
          </Button>
        </div>
      )}
      <div class="bar">
        <span class="actions">
          <Button label="First page" isDisabled={offset === 0} onClick={() => go(0)}>
            <Glyph name="first" />
          </Button>
          <Button label="Page before" isDisabled={previous === null} onClick={() => go(previous ?? 0)}>
            <Glyph name="previous" />
          </Button>
          <Button label="Page after" isDisabled={next === null} onClick={() => go(next ?? 0)}>
            <Glyph name="next" />
          </Button>
        </span>
        <SearchField
          label="Offset, such as 4096 or 0x1000"
          value={`0x${offset.toString(HEX)}`}
          onSearch={(text) => go(offsetOf(text) ?? offset)}
        />
        <LiveState loaded={loaded.value} onRefresh={() => void refresh()} />
      </div>
      {value === undefined ? (
        <p class="muted">{emptyText(loaded.value, false, "")}</p>
      ) : (
        <Bytes bytes={bytesOfBase64(value.data)} offset={offset} />
      )}
      {dialog.value === "write" && <WriteDialog seen={seen} offset={offset} onDone={changed} onClose={close} />}
      {dialog.value === "resize" && <ResizeDialog seen={seen} sizeBytes={sizeBytes} onDone={changed} onClose={close} />}
      {dialog.value === "free" && (
        <FreeDialog
          seen={seen}
          name={region.label || regionId}
          onDone={() => {
            onChanged();
            onClose();
          }}
          onClose={close}
        />
      )}
    </Panel>
  );
}

/** A page has the same height however many bytes it has, so that the buttons stay where they are. */
function Bytes({ bytes, offset }: { readonly bytes: Uint8Array; readonly offset: number }): JSX.Element {
  const lines = hexLines(bytes, offset).map(
    (line) => `${line.offset}  ${line.bytes.join(" ").padEnd(3 * HEX - 1)}  ${line.text}`,
  );
  const missing = PAGE_BYTES / HEX - lines.length;
  return (
    <pre class="value-text hex-page" tabindex={0}>
      {[...lines, ...Array.from({ length: missing }, () => "")].join("\n")}
    </pre>
  );
}
