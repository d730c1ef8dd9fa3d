import { type KeyboardEvent, type RefObject, useId, useState } from 'react'
import type { Person } from '../api/index.ts'
import { optionId, PeopleOptions } from '../sharing/index.ts'
import { useTexts } from '../texts/index.ts'
import { matchingPeople, typedMention } from './mentions.ts'

const MAX_SUGGESTED = 6
const MAX_LENGTH = 10_000

/** A text field for a comment. Typing @ suggests the people who can be mentioned. */
export function MentionField(props: {
  label: string
  value: string
  onChange: (value: string) => void
  onSubmit: () => void
  onCancel?: (() => void) | undefined
  people: readonly Person[]
  field: RefObject<HTMLTextAreaElement | null>
}) {
  const { value, onChange, people, field } = props
  const texts = useTexts('annotations')
  const listId = useId()
  const [cursor, setCursor] = useState(0)
  const [marked, setMarked] = useState(0)
  const [dismissedAt, setDismissedAt] = useState<number>()
  const mention = typedMention(value, cursor)
  const isOpen = mention !== undefined && mention.start !== dismissedAt
  const found = isOpen ? matchingPeople(people, mention.typed, MAX_SUGGESTED) : []
  const current = found[Math.min(marked, found.length - 1)]

  function choose(person: Person): void {
    if (mention === undefined) return
    const before = `${value.slice(0, mention.start)}@${person.email} `
    onChange(before + value.slice(cursor).trimStart())
    setCursor(before.length)
    setMarked(0)
    requestAnimationFrame(() => {
      field.current?.focus()
      field.current?.setSelectionRange(before.length, before.length)
    })
  }

  function onKeyDown(event: KeyboardEvent): void {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      props.onSubmit()
    } else if (step !== 0 && current !== undefined) {
      event.preventDefault()
      setMarked((Math.min(marked, found.length - 1) + step + found.length) % found.length)
    } else if ((event.key === 'Enter' || event.key === 'Tab') && current !== undefined) {
      event.preventDefault()
      choose(current)
    } else if (event.key === 'Escape') {
      if (current === undefined && props.onCancel === undefined) return
      event.stopPropagation()
      if (current !== undefined) setDismissedAt(mention?.start)
      else props.onCancel?.()
    }
  }

  return (
    <div className="mention-field">
      <textarea
        ref={field}
        className="input"
        rows={3}
        maxLength={MAX_LENGTH}
        aria-label={props.label}
        placeholder={texts.placeholder}
        aria-autocomplete="list"
        aria-controls={current === undefined ? undefined : listId}
        aria-activedescendant={current === undefined ? undefined : optionId(listId, current)}
        value={value}
        onChange={(event) => {
          onChange(event.target.value)
          setCursor(event.target.selectionStart)
          setMarked(0)
        }}
        onSelect={(event) => setCursor(event.currentTarget.selectionStart)}
        onKeyDown={onKeyDown}
      />
      {current !== undefined && (
        <PeopleOptions
          id={listId}
          className="mention-found"
          label={texts.people}
          people={found}
          current={current}
          onChoose={choose}
        />
      )}
    </div>
  )
}
