/** Puts a text on the clipboard; on a page without TLS too, where browsers keep the clipboard's interface away. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) {
    await navigator.clipboard.writeText(text)
    return
  }
  const holder = document.createElement('textarea')
  holder.value = text
  holder.className = 'visually-hidden'
  holder.readOnly = true
  // Inside the dialog if there is one: it does not let anything around it be focused.
  const around = document.activeElement?.closest('[role="dialog"]') ?? document.body
  const focused = document.activeElement
  around.append(holder)
  holder.select()
  const copied = document.execCommand('copy')
  holder.remove()
  if (focused instanceof HTMLElement) focused.focus()
  if (!copied) throw new Error('')
}
