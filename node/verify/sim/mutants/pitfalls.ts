/** The pitfalls of docs/design/pitfalls.md that must have a mutant: a run of the simulator can fall into each of them. */

/** Their numbers. */
export const MARKED_PITFALLS: readonly string[] = [
  ...["P1", "P2", "P3", "P4", "P31", "P32", "P33", "P42", "P43"],
  ...["P5", "P6", "P19", "P35", "P36", "P38", "P51", "P52"],
  ...["P7", "P8", "P9", "P10", "P13"],
  ...["P15", "P16", "P17", "P18", "P20", "P21", "P22", "P23", "P24"],
  ...["P25", "P26", "P27", "P28", "P29", "P30", "P34", "P39", "P40", "P41", "P44"],
  ...["P45", "P46", "P47", "P53"],
  ...["P54", "P55", "P56", "P57", "P58", "P61"],
];
