export { type Acquisition, isAcquisition, isSameAttempt } from "./acquisition.ts";
export {
  answerPlace,
  changeAcquisition,
  findStored,
  foundAt,
  hasEndedReplays,
  readAcquisition,
  replayOf,
  storeAcquisition,
  storeAnswer,
} from "./replays.ts";
