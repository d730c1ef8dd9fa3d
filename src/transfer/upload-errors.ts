import { Refusal } from '../http/index.ts'

/** A refusal in the words of the upload server: `{"error": text}`. */
export function uploadError(status: number, text: string): Refusal {
  return new Refusal(status, { error: text })
}

/** Browsers upload from pages of other origins; the ticket in the URL is the only credential there is. */
export const uploadHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Headers':
    'x-requested-with, content-type, content-range, content-disposition, accept, origin, authorization',
  'Access-Control-Allow-Methods': 'GET, POST, PUT, PATCH, DELETE, OPTIONS',
  'Access-Control-Max-Age': '86400',
}
