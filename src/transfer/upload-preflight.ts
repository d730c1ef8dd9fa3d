import { rawResponse, rawText } from '../http/index.ts'
import { route } from './services.ts'

/** CORS preflight requests of uploads. The surface adds the response headers. */
export const preflightRoutes = [
  '/seafhttp/upload-api/:ticket',
  '/seafhttp/upload-aj/:ticket',
  '/seafhttp/update-api/:ticket',
  '/seafhttp/update-aj/:ticket',
  '/seafhttp/upload-raw-blks-api/:ticket',
  '/seafhttp/upload-blks-api/:ticket',
  '/seafhttp/update-blks-api/:ticket',
].map((path) =>
  route({
    method: 'OPTIONS',
    path,
    auth: 'none',
    summary: 'Answers CORS preflight requests, so that pages of any origin can upload.',
    params: { ticket: rawText() },
    body: 'raw',
    handle: () => rawResponse({ body: '' }),
  }),
)
