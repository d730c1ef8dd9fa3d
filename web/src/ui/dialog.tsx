import { type FormEvent, type ReactNode, Suspense, useState } from 'react'
import { useTexts } from '../texts/index.ts'
import { Button } from './button.tsx'
import { useErrorMessage } from './load-error.tsx'
import { DialogPanel } from './overlays.ts'

/** Modal dialog, open while it is rendered. */
export function Dialog(props: {
  title: ReactNode
  onClose: () => void
  children: ReactNode
  foot?: ReactNode
  wide?: boolean
}) {
  const [back] = useState(focusedNow)
  return (
    <Suspense>
      <DialogPanel {...props} back={back} />
    </Suspense>
  )
}

/** Element to return the focus to. For a menu item, which is gone by then, the menu button. */
function focusedNow(): HTMLElement | undefined {
  const focused = document.activeElement
  const opener = focused?.closest('[role="menu"]')?.getAttribute('aria-labelledby')
  const back = opener ? document.getElementById(opener) : focused
  return back instanceof HTMLElement ? back : undefined
}

/** A dialog with a form. Closes after `onSubmit`, unless it throws; then the error is shown. */
export function FormDialog(props: {
  title: ReactNode
  submit: string
  danger?: boolean
  disabled?: boolean
  wide?: boolean
  onSubmit: () => Promise<unknown>
  onClose: () => void
  children: ReactNode
}) {
  const texts = useTexts('common')
  const wording = useErrorMessage()
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string>()
  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    event.stopPropagation()
    setBusy(true)
    setFailure(undefined)
    try {
      await props.onSubmit()
      props.onClose()
    } catch (error) {
      setFailure(wording(error))
      setBusy(false)
    }
  }
  return (
    <Dialog title={props.title} onClose={props.onClose} {...(props.wide && { wide: true })}>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        {props.children}
        {failure && (
          <p className="field-error" role="alert">
            {failure}
          </p>
        )}
        <div className="dialog-buttons">
          <Button onClick={props.onClose}>{texts.cancel}</Button>
          <Button
            type="submit"
            variant={props.danger ? 'danger' : 'primary'}
            busy={busy}
            disabled={props.disabled ?? false}
          >
            {props.submit}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
