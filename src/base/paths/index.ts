export {
  compareNames,
  comparesNatively,
  conflictName,
  freeName,
  freeWholeName,
  isStorableName,
  parseName,
  toNfc,
} from './names.ts'
export { pathKey } from './path-key.ts'
export {
  baseName,
  below,
  isWithin,
  joinPath,
  type LibraryPath,
  parentOf,
  parsePath,
  ROOT,
  seenFrom,
  segmentsOf,
  selfAndAbove,
  withSlash,
} from './paths.ts'
