import { Popover } from 'radix-ui'
import { type ReactNode, type RefObject, useRef } from 'react'

/** A panel below the button that opened it. Open while it is rendered. */
export function PopoverPanel(props: {
  label: string
  className: string
  anchor: RefObject<HTMLElement | null>
  onClose: () => void
  children: ReactNode
}) {
  const { anchor } = props
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
