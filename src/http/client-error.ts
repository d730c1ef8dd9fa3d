import type { Socket } from 'node:net'

/** Answers bytes that are not HTTP, headers that are too long or too slow, and closes the connection. */
export function answerClientError(
  error: Error & { code?: string },
  socket: Socket,
  isAnswering: boolean,
): void {
  // What we said here would be taken for the answer to the request before it.
  if (isAnswering || !socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const [status, reason] = statusOf(error.code)
  const body = JSON.stringify({ detail: `${reason}.` })
  const head = [
    `HTTP/1.1 ${status} ${reason}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}

function statusOf(code: string | undefined): [status: number, reason: string] {
  if (code === 'HPE_HEADER_OVERFLOW') return [431, 'Request Header Fields Too Large']
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'Request Timeout']
  return [400, 'Bad Request']
}
