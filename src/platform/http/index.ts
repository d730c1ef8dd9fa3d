export { parseBody, readBody } from './body.ts'
export { BodyClaim, STREAM_BYTES } from './body-memory.ts'
export { addressKey } from './client-address.ts'
export { judge, type Validators } from './conditional-request.ts'
export { mediaTypeOf, servedAs } from './content-type.ts'
export { type AuthResult, readApiToken } from './credentials.ts'
export { hasTag, jsonUnlessUnchanged, unlessUnchanged } from './entity-tag.ts'
export { isFromElsewhere } from './fetch-site.ts'
export { Fields, type FilePart } from './fields.ts'
export { boundaryOf, decodePercent, parametersOf } from './header-parameters.ts'
export { httpDate } from './http-date.ts'
export { type Listening } from './listen.ts'
export { createMetrics } from './metrics.ts'
export { countAllocated } from './minor-gc.ts'
export { MultipartStream, type StreamedPart } from './multipart-stream.ts'
export { wantsPage } from './not-found-page.ts'
export { startChunks } from './range-chunks.ts'
export type { Span } from './range-header.ts'
export { type Representation, respondWith } from './range-response.ts'
export { throttled } from './rate-limit.ts'
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
export { detail, errorMessage, notFound, Refusal, TextRefusal } from './refusal.ts'
export { HttpRequest } from './request.ts'
export {
  type Chunks,
  type HeldBytes,
  HttpResponse,
  jsonResponse,
  jsonTextResponse,
  type ResponseHeaders,
  rawResponse,
  textResponse,
} from './response.ts'
export {
  type FaultResponse,
  type FaultResponses,
  type Input,
  type Route,
  routesFor,
  type SurfaceFaults,
} from './route.ts'
export { pageHeaders, sharedHeaders } from './security-headers.ts'
export { discard } from './send.ts'
export { createHttpServer, type HttpServer } from './server.ts'
export { faultsOfWebApi, serverFaults, unexpected } from './shared-faults.ts'
export { StartingPort } from './starting-port.ts'
export type { Readiness } from './system-routes.ts'
export type { ConnectionSource, RequestBody, RequestHead } from './transport.ts'
export { readVisitorCredentials } from './visitor-credentials.ts'
