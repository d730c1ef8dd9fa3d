export { bounded, detail, errorMessage, notFound, Refusal, TextRefusal } from './refusal.ts'
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
