export { type Acquisition, isAcquisition, isSameAttempt } from "./acquisition.ts";
export {
  answerSlot as answerPlace,
  changeAcquisition,
  findStoredRequest as findStored,
  hasExpiredAnswers as hasEndedReplays,
  readAcquisition,
  storeAcquisition,
  storeAnswer,
  storedOutcomeAt as replayOf,
  storedRequestAt as foundAt,
} from "./replays.ts";
