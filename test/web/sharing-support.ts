import type { Locator } from 'playwright-core'

/** Pastes a text, as from the clipboard. */
export async function paste(field: Locator, text: string): Promise<void> {
  await field.evaluate((input, sent) => {
    // Browser globals, which the types of these tests do not declare.
    const { DataTransfer, ClipboardEvent } = globalThis as unknown as {
      DataTransfer: new () => { setData(kind: string, text: string): void }
      ClipboardEvent: new (name: string, init: object) => object
    }
    const clipboardData = new DataTransfer()
    clipboardData.setData('text', sent)
    const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })
    ;(input as unknown as { dispatchEvent(event: object): void }).dispatchEvent(event)
  }, text)
}
