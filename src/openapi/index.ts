import * as kinds from './kinds.ts'

export { type Compatibility, type DescribedSurface, describeApi, type Examples } from './document.ts'
export {
  bytes,
  empty,
  json,
  type Operation,
  operation,
  plain,
  ranged,
  rangeRequestHeaders,
} from './operation.ts'
export { kinds }
