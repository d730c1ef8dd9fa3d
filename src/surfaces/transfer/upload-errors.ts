import { Refusal } from '../../platform/responses/index.ts'

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
