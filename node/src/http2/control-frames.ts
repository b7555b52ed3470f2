/** The client's control frames of a connection and its streams: SETTINGS, PING, WINDOW_UPDATE, RST_STREAM, PRIORITY. */

import type { ConnectionParts } from "./connection-parts.ts";
import { ErrorCode } from "./error-code.ts";
import { ACK, PRIORITY_BYTES, readUint31 } from "./frame.ts";
import { applySettings, type SettingsTarget } from "./peer-settings.ts";
import type { ProtocolEnforcement } from "./protocol-enforcement.ts";

/** A WINDOW_UPDATE below this costs more than it brings. */
const SMALL_INCREMENT = 1_024;
/**
 * A client may return the bytes of each DATA frame at once, to the stream and to the connection. gRPC's C core also
 * widens the window of each stream by five bytes before it reads the head of the first message.
 */
const UPDATES_PER_FRAME = 2;

export class ControlFrames {
  readonly #parts: ConnectionParts;
  readonly #enforcement: ProtocolEnforcement;
  readonly #onAcknowledged: () => void;
  readonly #settingsTarget: SettingsTarget;
  #hasSettings = false;
  #isAcknowledged = false;
  /** Small updates that requests and DATA frames have paid for. */
  #paidUpdates = 0;
  /** Frames for ended streams that requests and DATA frames have paid for. */
  #paidLateFrames = 0;

  /** @param onAcknowledged called when the client has acknowledged the server's SETTINGS */
  constructor(parts: ConnectionParts, enforcement: ProtocolEnforcement, onAcknowledged: () => void) {
    const { sender, streams } = parts;
    this.#parts = parts;
    this.#enforcement = enforcement;
    this.#onAcknowledged = onAcknowledged;
    this.#settingsTarget = {
      onHeaderTableSize: (bytes) => sender.setHeaderTableBytes(bytes),
      onInitialWindowSize: (bytes) => sender.setInitialWindow(bytes, streams.values()),
      onMaxFrameSize: (bytes) => sender.setFrameBytesMax(bytes),
    };
  }

  /** Whether the client has sent its first SETTINGS. */
  get hasSettings(): boolean {
    return this.#hasSettings;
  }

  onReset(streamId: number, code: number): void {
    const { counters, streams } = this.#parts;
    const stream = streams.get(streamId);
    if (stream !== undefined) {
      counters.resetsReceived++;
      this.#parts.owner.onPeerReset(stream, code);
      // Only a reset ends a stream of answers. A client that waited for the first one has begun no work and left it.
      if (!stream.hasResponded) {
        this.#enforcement.allows("resets");
      }
      // The bytes that the stream had queued are free for other streams.
      this.#parts.sender.pump();
    } else {
      this.#ignoreUnlessIdle(streamId);
    }
  }

  onWindowUpdate(streamId: number, increment: number): void {
    const { sender, streams } = this.#parts;
    if (increment < SMALL_INCREMENT && !this.#allowsSmallUpdate()) {
      return;
    }
    const stream = streams.get(streamId);
    if (streamId === 0) {
      this.#widenConnection(increment);
    } else if (stream === undefined) {
      this.#ignoreUnlessIdle(streamId);
    } else if (increment === 0) {
      this.#enforcement.refuseOpen(stream, "wrong-window-update");
    } else if (sender.widenStream(stream, increment)) {
      sender.pump();
    } else {
      this.#enforcement.refuseOpen(stream, "window-overflow");
    }
  }

  #widenConnection(increment: number): void {
    if (increment === 0) {
      this.#enforcement.fail("wrong-window-update", ErrorCode.ProtocolError);
    } else if (this.#parts.sender.widen(increment)) {
      this.#parts.sender.pump();
    } else {
      this.#enforcement.fail("window-overflow", ErrorCode.FlowControlError);
    }
  }

  /** Each is paid for by a request or a DATA frame, or charged once: a client that was ahead may stay so. */
  #allowsSmallUpdate(): boolean {
    const { sender, streams } = this.#parts;
    if (this.#paidUpdates < UPDATES_PER_FRAME * (streams.begun + sender.dataFrames)) {
      this.#paidUpdates++;
      return true;
    }
    return this.#enforcement.allows("smallWindowUpdates");
  }

  /**
   * Handles a frame for a stream that is not open: it is ignored for an ended stream, and an error for an idle one
   * (§5.1). A client sends one frame for each stream that ends at its deadline on both sides, and may return the bytes
   * of each DATA frame after the end. These are paid for as small updates are.
   */
  #ignoreUnlessIdle(streamId: number): void {
    const { sender, streams } = this.#parts;
    if (streams.closedStateOf(streamId) === "idle") {
      this.#enforcement.fail("wrong-stream", ErrorCode.ProtocolError);
    } else if (this.#paidLateFrames < streams.begun + sender.dataFrames) {
      this.#paidLateFrames++;
    } else {
      this.#enforcement.allows("ignoredFrames");
    }
  }

  onSettings(flags: number, bytes: Uint8Array, from: number, to: number): void {
    if ((flags & ACK) !== 0) {
      this.#onSettingsAcknowledged();
      return;
    }
    this.#hasSettings = true;
    if (!this.#enforcement.allows("settings")) {
      return;
    }
    const error = applySettings(bytes, from, to, this.#settingsTarget);
    if (error === ErrorCode.NoError) {
      this.#parts.sender.acknowledgeSettings();
      this.#parts.sender.pump();
    } else {
      this.#enforcement.fail("wrong-settings", error);
    }
  }

  #onSettingsAcknowledged(): void {
    if (this.#isAcknowledged) {
      this.#enforcement.allows("ignoredFrames");
    } else {
      this.#isAcknowledged = true;
      this.#onAcknowledged();
    }
  }

  onPing(flags: number, bytes: Uint8Array, from: number): void {
    if ((flags & ACK) !== 0) {
      if (this.#enforcement.allows("ignoredFrames")) {
        this.#parts.owner.onPong(bytes, from);
      }
    } else if (this.#enforcement.allows("pings")) {
      this.#parts.sender.sendPing(ACK, bytes, from);
    }
  }

  /** Priorities are obsolete (§5.3), so only their form is checked. */
  onPriority(streamId: number, bytes: Uint8Array, from: number, to: number): void {
    if (to - from !== PRIORITY_BYTES) {
      this.#enforcement.refuseAny(streamId, "wrong-priority-length");
    } else if (readUint31(bytes, from) === streamId) {
      this.#enforcement.refuseAny(streamId, "wrong-priority");
    } else {
      this.#enforcement.allows("ignoredFrames");
    }
  }
}
