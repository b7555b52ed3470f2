/**
 * The rules of elections, as one process shows them: by the messages that it gets and sends, and by the moments at
 * which it becomes a candidate.
 *
 * A member that hears a leader votes for no other and does not become a candidate (P19). It refuses a vote for a reason
 * (P20). Every candidacy and every leadership needs the answers of a quorum, each voter counted once (P35), and the own
 * vote only when it is durable (P4). A member in an old term learns of the newer one (P37, P38). The rules do not judge
 * what only the process can know. Where they count ticks from outside, they count in its favour.
 */

import type { Configuration, CoreLimits, Message, Role } from "../../src/raft/index.ts";
import type { LogMeta } from "./disk.ts";
import { isQuorum } from "./membership-rules.ts";
import { must } from "./rule-violation.ts";
import type { TickCount } from "./tick-count.ts";
import type { TimeoutRules, Timeouts } from "./timeout-rules.ts";

/** What an observer sees of the process and its disk at any moment. */
export interface Elector {
  readonly id: number;
  readonly meta: () => LogMeta;
  /** The applied configuration. */
  readonly configuration: () => Configuration;
  /** It knows, or may know, that it has lost acknowledged data. */
  readonly isDamaged: () => boolean;
}

interface VoteRequest {
  readonly term: number;
  readonly lastIndex: number;
  readonly lastTerm: number;
  readonly wasDamaged: boolean;
}

type Answer = Extract<Message, { readonly type: "vote-reply" | "pre-vote-reply" }>;

/**
 * Largest difference between the ticks counted from outside and those of the process, at each end of a span of time.
 */
const TICKS_OFF = 2;

export class ElectionRules {
  readonly #elector: Elector;
  readonly #ticks: TickCount;
  readonly #timeouts: Timeouts;
  /** For this many ticks after its last message, a leader is certainly still in contact. */
  readonly #contactTicks: number;
  /** The term after its last turn. */
  #term: number;
  #role: Role = "follower";
  /** The leader that it follows, and when its last message came, in ticks; null if that is not certain. */
  #contact: { readonly leader: number; readonly term: number; readonly heardTicks: number } | null = null;
  /** The leader of the newest term that was heard since the last turn. */
  #heard: { readonly leader: number; readonly term: number } | null = null;
  /** Requests that it may grant, by kind, candidate and term. */
  readonly #grantable = new Set<string>();
  /** Its leader after its last turn; 0 = none. */
  #trusted = 0;
  /**
   * Requests that it got since its last turn. It ignores them unless it learns that its leader is gone before it reads
   * them.
   */
  #unanswerable: Extract<Message, { readonly type: "vote" | "pre-vote" }>[] = [];
  /** By candidate, requests for votes without an answer, while its log is known. */
  readonly #asked = new Map<number, VoteRequest[]>();
  /** Its log may change in its next turn. */
  #isLogChanging = false;
  /** Answers that it owes since its last turn. */
  #owed: { readonly to: number; readonly type: Message["type"] }[] = [];
  /** Answers to its present election, in their order. */
  #answers: Answer[] = [];
  /** It got a request to campaign since the last turn. */
  #hasTimeoutNow = false;

  constructor(elector: Elector, ticks: TickCount, limits: CoreLimits, timeouts: TimeoutRules) {
    this.#elector = elector;
    this.#ticks = ticks;
    this.#timeouts = timeouts.ofProcess(elector.id, ticks);
    this.#contactTicks = Math.min(limits.contactTicks, limits.electionTicksMin) - TICKS_OFF;
    this.#term = elector.meta().term;
  }

  // ---- What it gets ----

  /** The process has got a message, which it reads in its next turn. */
  onRead(message: Message): void {
    switch (message.type) {
      case "heartbeat":
        this.#onHeartbeat(message.from, message.term);
        break;
      case "vote":
        this.#onVote(message);
        return;
      case "pre-vote":
        this.#onPreVote(message);
        return;
      case "vote-reply":
      case "pre-vote-reply":
        this.#answers.push(message);
        break;
      case "timeout-now":
        this.#hasTimeoutNow = true;
        this.#contact = null;
        break;
      case "append":
        this.#isLogChanging = true;
        break;
      default:
        break;
    }
    const isGrant = message.type === "pre-vote-reply" && message.granted;
    if (!isGrant) {
      this.#enter(message.term);
    }
  }

  /** A snapshot may be taking the place of its log. */
  onSnapshot(): void {
    this.#asked.clear();
  }

  /** The peer has restarted: its unread messages are void. */
  onRestarted(peer: number): void {
    this.#owed = this.#owed.filter(({ to }) => to !== peer);
    if (this.#heard?.leader === peer) {
      this.#heard = null;
    }
  }

  /** It learns that the process of the peer is gone. */
  onGone(peer: number): void {
    if (this.#contact?.leader === peer) {
      this.#contact = null;
      this.#timeouts.onUnknown();
    }
    if (this.#trusted === peer) {
      // Earlier messages that it may read only now.
      for (const request of this.#unanswerable.splice(0)) {
        if (request.type === "vote") {
          this.#onVote(request);
        } else {
          this.#onPreVote(request);
        }
      }
    }
  }

  #onHeartbeat(leader: number, term: number): void {
    if (term < this.#term) {
      this.#owed.push({ to: leader, type: "heartbeat-reply" });
    } else if (this.#heard === null || term >= this.#heard.term) {
      this.#heard = { leader, term };
    }
  }

  #onVote(message: Extract<Message, { readonly type: "vote" }>): void {
    const { from, term, transfer, lastIndex, lastTerm } = message;
    if (this.#isInContact && !transfer) {
      this.#unanswerable.push(message);
      return;
    }
    const request = { term, lastIndex, lastTerm, wasDamaged: this.#elector.isDamaged() };
    this.#grantable.add(keyOf("vote-reply", from, term));
    this.#asked.set(from, [...(this.#asked.get(from) ?? []), request]);
    // A vote starts a new timeout.
    this.#timeouts.onUnknown();
    this.#enter(term);
  }

  #onPreVote(message: Extract<Message, { readonly type: "pre-vote" }>): void {
    const { from, term } = message;
    if (term <= this.#term) {
      this.#owed.push({ to: from, type: "pre-vote-reply" });
    } else if (this.#isInContact) {
      this.#unanswerable.push(message);
    } else {
      this.#grantable.add(keyOf("pre-vote-reply", from, term));
    }
  }

  /** It may be in this term from now on, and has heard no leader in it. */
  #enter(term: number): void {
    if (this.#contact !== null && term > this.#contact.term) {
      this.#contact = null;
    }
  }

  /** It certainly trusts its leader now. */
  get #isInContact(): boolean {
    return this.#contact !== null && this.#ticks.past - this.#contact.heardTicks <= this.#contactTicks;
  }

  // ---- What it sends ----

  /** A connection has taken a message of the process. */
  onSent(message: Message): void {
    this.#owed = this.#owed.filter(({ to, type }) => to !== message.to || type !== message.type);
    if (message.type !== "vote-reply" && message.type !== "pre-vote-reply") {
      return;
    }
    const { type, to, term, granted } = message;
    const { id } = this.#elector;
    const asked = type === "vote-reply" ? (this.#asked.get(to) ?? []) : [];
    if (type === "vote-reply") {
      this.#asked.delete(to);
    }
    if (granted) {
      must(this.#grantable.has(keyOf(type, to, term)), "P19 a member that hears a leader votes for no other", () => {
        return `m${id} grants m${to} term ${term}, in contact with m${this.#contact?.leader}`;
      });
    } else if (asked.length === 1 && asked[0]?.term === term) {
      // Of several requests, it cannot be seen from outside which one is answered.
      this.#checkRefusal(to, asked[0]);
    }
  }

  /** No connection has taken a message, or another frame, to the peer. */
  onUnsent(peer: number): void {
    this.#owed = this.#owed.filter(({ to }) => to !== peer);
    this.#asked.delete(peer);
  }

  /**
   * A member refuses a vote in this very term if the candidate's log is shorter, if its vote is given, or if it may not
   * vote (P20).
   */
  #checkRefusal(to: number, request: VoteRequest): void {
    const { id, meta, isDamaged } = this.#elector;
    const { vote, last, lastTerm } = meta();
    const isLogNewer = lastTerm > request.lastTerm || (lastTerm === request.lastTerm && last > request.lastIndex);
    const hasReason = (vote !== 0 && vote !== to) || isLogNewer || request.wasDamaged || isDamaged();
    must(hasReason, "P20 a vote is refused for a reason", () => {
      return `m${id} to m${to} in term ${request.term}, whose log ends at ${request.lastIndex}/${request.lastTerm}`;
    });
  }

  // ---- Candidacies ----

  /** It gives its leader up, in the middle of a turn. */
  onPreCandidacy(): void {
    const { id, configuration } = this.#elector;
    this.#answers = [];
    this.#timeouts.onCampaign();
    const contact = this.#contact;
    if (contact === null || isQuorum(new Set([id]), configuration())) {
      return;
    }
    const silentTicks = this.#ticks.present - contact.heardTicks;
    must(silentTicks > this.#contactTicks, "P19 a member that hears a leader does not become a candidate", () => {
      return `m${id} has heard m${contact.leader} of term ${contact.term} ${silentTicks} ticks ago`;
    });
  }

  /** It is about to enter the next term as a candidate. */
  onCandidacy(term: number): void {
    const { id, configuration } = this.#elector;
    this.#timeouts.onUnknown();
    if (this.#hasTimeoutNow) {
      return;
    }
    const granted = this.#granted((answer) => {
      return answer.type === "pre-vote-reply" && answer.term === (answer.granted ? term + 1 : term);
    });
    must(isQuorum(granted.add(id), configuration()), "P35 a candidacy follows the word of a quorum", () => {
      return `m${id} enters term ${term + 1}, encouraged by ${[...granted].join()}`;
    });
  }

  /** It leads this term from now on. */
  onElected(term: number): void {
    const { id, configuration, meta } = this.#elector;
    const granted = this.#granted((answer) => answer.type === "vote-reply" && answer.term === term);
    const own = meta();
    if (own.term === term && own.vote === id) {
      granted.add(id);
    }
    must(isQuorum(granted, configuration()), "P35, P4 a leader has the votes of a quorum", () => {
      return `m${id} leads term ${term}, elected by ${[...granted].join()}`;
    });
  }

  /** The voters whose first answer of the kind was a grant. */
  #granted(isCounted: (answer: Answer) => boolean): Set<number> {
    const first = new Map<number, boolean>();
    for (const answer of this.#answers.filter(isCounted)) {
      if (!first.has(answer.from)) {
        first.set(answer.from, answer.granted);
      }
    }
    return new Set([...first].filter(([, isGranted]) => isGranted).map(([voter]) => voter));
  }

  // ---- Turns ----

  /** The process has read all its messages. */
  onTurn(role: Role, term: number): void {
    const [owed] = this.#owed;
    must(owed === undefined, "P37, P38 a member in an old term learns of the newer one", () => {
      return `m${this.#elector.id} in term ${term} sends no ${owed?.type} to m${owed?.to}`;
    });
    this.#unanswerable = [];
    const heard = this.#heard;
    if (heard !== null && role === "follower" && term === heard.term) {
      this.#contact = { ...heard, heardTicks: this.#ticks.past };
      this.#timeouts.onBegin();
    } else if (role !== "follower" || term !== this.#contact?.term) {
      this.#contact = null;
      if (role !== this.#role || term !== this.#term) {
        this.#timeouts.onBegin();
      }
    }
    this.#trusted = this.#contact?.leader ?? 0;
    this.#role = role;
    this.#term = term;
    this.#heard = null;
    this.#hasTimeoutNow = false;
    if (this.#isLogChanging) {
      this.#isLogChanging = false;
      this.#asked.clear();
    }
  }
}

function keyOf(type: Answer["type"], candidate: number, term: number): string {
  return `${type} ${candidate} ${term}`;
}
