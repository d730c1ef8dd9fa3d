import type { Placed } from '../../libraries/edits/index.ts'
import { type HttpResponse, jsonTextResponse, Refusal } from '../../platform/responses/index.ts'

/** A stored file in upload responses. */
export interface UploadItem {
  readonly name: string
  readonly id: string
  /** Bytes. */
  readonly size: number
}

export function uploadItem({ entry }: Placed): UploadItem {
  return { name: entry.name, id: entry.id, size: entry.kind === 'file' ? entry.size : 0 }
}

/** As in `[{"name": "a.txt", "id": "9b1d…", "size": 14}]`. */
export function uploadItemsText(items: readonly UploadItem[]): string {
  return JSON.stringify(items.map(({ name, id, size }) => ({ name, id, size })))
}

/** The ids alone. Not valid JSON, but labelled so, as existing clients expect. */
export function idsAnswer(items: readonly UploadItem[]): HttpResponse {
  return jsonTextResponse(items.map((item) => item.id).join('\t'))
}

/** The response to a chunk that is not the last. */
export function chunkTaken(): HttpResponse {
  return jsonTextResponse('{"success": true}')
}

/** A refusal in the format of uploads: `{"error": text}`. */
export function uploadError(status: number, text: string): Refusal {
  return new Refusal(status, { error: text })
}

/** CORS: browsers may upload from other origins, because the ticket in the URL is the only credential. */
export const uploadHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Headers':
    'x-requested-with, content-type, content-range, content-disposition, accept, origin, authorization',
  'Access-Control-Allow-Methods': 'GET, POST, PUT, PATCH, DELETE, OPTIONS',
  'Access-Control-Max-Age': '86400',
}
