import { Popover } from 'radix-ui'
import { type ReactNode, type RefObject, useRef } from 'react'

/** A panel below the button that opened it. Open while it is rendered. */
export function PopoverPanel(props: {
  label: string
  className: string
  anchor: RefObject<HTMLElement | null>
  /** Selector of the element that gets the focus; else it is the first that can have it. */
  initialFocus?: string
  onClose: () => void
  children: ReactNode
}) {
  const { anchor, initialFocus } = props
  const hasLeft = useRef(false)
  return (
    <Popover.Root open onOpenChange={(open) => !open && props.onClose()}>
      <Popover.Anchor virtualRef={anchor} />
      <Popover.Portal>
        <Popover.Content
          className={props.className}
          align="end"
          sideOffset={6}
          collisionPadding={8}
          aria-label={props.label}
          onOpenAutoFocus={(event) => {
            const panel = event.currentTarget as HTMLElement
            const target = initialFocus && panel.querySelector<HTMLElement>(initialFocus)
            if (!target) return
            event.preventDefault()
            target.focus()
          }}
          // The button closes its own panel. Without this a click would close and reopen it.
          onInteractOutside={(event) => {
            if (event.target instanceof Node && anchor.current?.contains(event.target)) event.preventDefault()
            else hasLeft.current = true
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault()
            if (!hasLeft.current) anchor.current?.focus()
          }}
        >
          {props.children}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}
