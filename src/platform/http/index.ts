export { parseBody, readBody } from './body.ts'
export { BodyClaim, STREAM_BYTES } from './body-memory.ts'
export { addressKey } from './client-address.ts'
export { type AuthResult, readApiToken, readVisitorCredentials } from './credentials.ts'
export { httpDate } from './http-date.ts'
export type { Listening } from './listen.ts'
export { createMetrics } from './metrics.ts'
export { countAllocated } from './minor-gc.ts'
export { wantsPage } from './not-found-page.ts'
export { throttled } from './rate-limit.ts'
export { HttpRequest, isFromElsewhere } from './request.ts'
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
