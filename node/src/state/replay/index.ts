export { type Acquisition, isAcquisition, isSameAttempt } from "./acquisition.ts";
export {
  answerSlot as answerPlace,
  changeAcquisition,
  findStoredRequest as findStored,
  storedRequestAt as foundAt,
  hasExpiredAnswers as hasEndedReplays,
  readAcquisition,
  storedOutcomeAt as replayOf,
  storeAcquisition,
  storeAnswer,
} from "./replays.ts";
