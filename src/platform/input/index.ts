export { Fields, type FilePart, maxFields } from './fields.ts'
export { GrowingBuffer } from './growing-buffer.ts'
export { boundaryOf, decodePercent, parametersOf } from './header-parameters.ts'
export { MultipartStream, type StreamedPart } from './multipart-stream.ts'
export {
  type Accepted,
  accepting,
  flag,
  integer,
  list,
  map,
  oneOf,
  optional,
  optionalText,
  type Reader,
  type Readers,
  rawText,
  rawValue,
  refuse,
  required,
  text,
  type Values,
} from './readers.ts'
