/** The fields of each event in a response of type `text/event-stream`, as they arrive. Comments are skipped. */
export async function* readEventStream(
  response: Response,
): AsyncGenerator<Record<string, string | undefined>> {
  if (response.body === null) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    text += value
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const lines = text
        .slice(0, end)
        .split('\n')
        .filter((line) => !line.startsWith(':'))
      text = text.slice(end + 2)
      yield Object.fromEntries(lines.map((line) => line.split(/: ?(.*)/s, 2)))
    }
  }
}
