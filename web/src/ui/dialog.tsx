import { X } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import { type FormEvent, type ReactNode, useState } from 'react'
import { useTexts } from '../texts/index.ts'
import { Button, IconButton } from './button.tsx'
import { useErrorMessage } from './load-error.tsx'

/** Modal dialog, open while it is rendered. */
export function Dialog(props: {
  title: ReactNode
  onClose: () => void
  children: ReactNode
  foot?: ReactNode
  wide?: boolean
}) {
  const texts = useTexts('common')
  const [back] = useState(focusedNow)
  return (
    <Radix.Root open onOpenChange={(open) => !open && props.onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="dialog-veil" />
        <Radix.Content
          className={`dialog${props.wide ? ' dialog-wide' : ''}`}
          aria-describedby={undefined}
          onOpenAutoFocus={(event) => {
            event.preventDefault()
            const content = event.currentTarget as HTMLElement
            const first = firstWanted(content) ?? content
            first.focus()
          }}
          onCloseAutoFocus={(event) => {
            if (!back?.isConnected) return
            event.preventDefault()
            back.focus()
          }}
        >
          <div className="dialog-head">
            <Radix.Title asChild>
              <h2>{props.title}</h2>
            </Radix.Title>
            <Radix.Close asChild>
              <IconButton label={texts.close} icon={X} />
            </Radix.Close>
          </div>
          <div className="dialog-body">{props.children}</div>
          {props.foot && <div className="dialog-foot">{props.foot}</div>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

// Initial focus: the selected tab, else the first field, else a button of the footer, else any button.
const WANTED = [
  '[role=tab][aria-selected=true]',
  ':is(input, select, textarea, [role=tree] [tabindex="0"]):not(:disabled, [type=hidden], [hidden])',
  '.dialog-buttons button:not(:disabled)',
  'button:not(:disabled)',
]

/** Initial focus of a dialog. */
function firstWanted(dialog: HTMLElement): HTMLElement | null {
  const found = WANTED.map((wanted) =>
    dialog.querySelector<HTMLElement>(`:is(.dialog-body, .dialog-foot) ${wanted}`),
  )
  return found.find((one) => one !== null) ?? null
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
