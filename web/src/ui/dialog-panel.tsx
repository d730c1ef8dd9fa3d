import { X } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { useTexts } from '../texts/index.ts'
import { IconButton } from './button.tsx'

/** Modal dialog, open while it is rendered. */
export function DialogPanel(props: {
  title: ReactNode
  onClose: () => void
  children: ReactNode
  foot?: ReactNode
  wide?: boolean
  /** Receives the focus after the dialog. */
  back: HTMLElement | undefined
}) {
  const texts = useTexts('common')
  const { back } = props
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
  'button:not(:disabled, [tabindex="-1"])',
]

/** Initial focus of a dialog. */
function firstWanted(dialog: HTMLElement): HTMLElement | null {
  const found = WANTED.map((wanted) =>
    dialog.querySelector<HTMLElement>(`:is(.dialog-body, .dialog-foot) ${wanted}`),
  )
  return found.find((one) => one !== null) ?? null
}
