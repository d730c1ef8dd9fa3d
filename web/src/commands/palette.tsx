import './commands.css'
import { Dialog as Radix } from 'radix-ui'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { useTexts } from '../texts/index.ts'
import { type PaletteItem, usePaletteGroups } from './palette-items.ts'
import { providedActions } from './provided-actions.ts'

/** Finds actions, places and files by a few letters of their names. */
export default function Palette(props: { onClose: () => void }) {
  const texts = useTexts('commands')
  const common = useTexts('common')
  const listId = useId()
  const [typed, setTyped] = useState('')
  const [active, setActive] = useState(0)
  const [provided] = useState(providedActions)
  const [back] = useState(() => document.activeElement)
  const picked = useRef<PaletteItem>(undefined)
  const { groups, isSearching } = usePaletteGroups(typed, provided)
  const items = groups.flatMap((group) => group.items)
  const current = Math.min(active, items.length - 1)

  function pick(item: PaletteItem | undefined): void {
    if (item === undefined) return
    picked.current = item
    props.onClose()
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.nativeEvent.isComposing) return
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 }
    const step = steps[event.key]
    if (step !== undefined && items.length > 0) setActive((current + step + items.length) % items.length)
    else if (event.key === 'Enter') pick(items[current])
    else return
    event.preventDefault()
  }

  let place = -1
  return (
    <Radix.Root open onOpenChange={(open) => !open && props.onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="dialog-veil" />
        <Radix.Content
          className="dialog palette"
          aria-describedby={undefined}
          onCloseAutoFocus={(event) => {
            event.preventDefault()
            if (back instanceof HTMLElement && back.isConnected) back.focus({ preventScroll: true })
            // After the focus is back: an action may move it, to a field for a new name for instance.
            picked.current?.run()
          }}
        >
          <Radix.Title className="visually-hidden">{texts.palette}</Radix.Title>
          <input
            className="palette-field"
            type="text"
            role="combobox"
            aria-label={texts.placeholder}
            aria-expanded={items.length > 0}
            aria-controls={listId}
            aria-autocomplete="list"
            aria-activedescendant={items.length > 0 ? `${listId}-${current}` : undefined}
            placeholder={texts.placeholder}
            autoComplete="off"
            spellCheck={false}
            maxLength={300}
            value={typed}
            onChange={(event) => {
              setTyped(event.target.value)
              setActive(0)
            }}
            onKeyDown={onKeyDown}
          />
          <div id={listId} className="palette-list" role="listbox" aria-label={texts.palette}>
            {groups.map(({ title, items: shown }) => (
              // biome-ignore lint/a11y/useSemanticElements: a group of options is not a fieldset.
              <div key={title} role="group" aria-label={title}>
                <div className="palette-title" aria-hidden>
                  {title}
                </div>
                {shown.map((item) => {
                  place += 1
                  const at = place
                  return (
                    <PaletteLine
                      key={item.key}
                      id={`${listId}-${at}`}
                      item={item}
                      isActive={at === current}
                      onHover={() => setActive(at)}
                      onPick={() => pick(item)}
                    />
                  )
                })}
              </div>
            ))}
          </div>
          <p className="palette-status muted" role="status">
            {isSearching ? common.loading : items.length === 0 ? texts.nothing : texts.hint}
          </p>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

function PaletteLine(props: {
  id: string
  item: PaletteItem
  isActive: boolean
  onHover: () => void
  onPick: () => void
}) {
  const { icon: Icon, label, about, shortcut } = props.item
  const line = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (props.isActive) line.current?.scrollIntoView({ block: 'nearest' })
  }, [props.isActive])
  return (
    // The field keeps the focus and handles the keys; options only react to the pointer.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
    <div
      ref={line}
      id={props.id}
      className="palette-item"
      role="option"
      tabIndex={-1}
      aria-selected={props.isActive}
      onMouseDown={(event) => event.preventDefault()}
      onPointerMove={props.onHover}
      onClick={props.onPick}
    >
      <Icon size={18} aria-hidden />
      <span className="palette-label">
        <bdi>{label}</bdi>
        {about !== undefined && (
          <span className="palette-about muted">
            <bdi>{about}</bdi>
          </span>
        )}
      </span>
      {shortcut !== undefined && <kbd>{shortcut}</kbd>}
    </div>
  )
}
