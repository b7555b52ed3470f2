export { type Acquisition, isAcquisition, isSameAttempt } from "./acquisition.ts";
export {
  answerSlot,
  changeAcquisition,
  findStoredRequest,
  hasExpiredAnswers,
  readAcquisition,
  storeAcquisition,
  storeAnswer,
  storedOutcomeAt,
  storedRequestAt,
} from "./stored-requests.ts";
