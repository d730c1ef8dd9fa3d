import * as kinds from './kinds.ts'

export {
  bytes,
  type Compatibility,
  type DescribedResponse,
  type Details,
  empty,
  json,
  plain,
  type Responses,
  ranged,
  rangeRequestHeaders,
} from './response.ts'
export type { ValueOf } from './schema.ts'
export { kinds }
