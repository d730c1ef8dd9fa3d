import { useState } from 'react'
import type { ShareItem } from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { DateField, DateInput, SelectField } from '../ui/index.ts'
import { dayOf, expiryOf, type Until } from './link-draft.ts'

/** When a new share expires. */
interface ExpiryDraft {
  readonly until: Until
  /** `YYYY-MM-DD`. */
  readonly date: string
}

export const noExpiry: ExpiryDraft = { until: 'never', date: '' }

/** Whether the draft names a time, or never. */
export const hasExpiry = ({ until, date }: ExpiryDraft) => until !== 'date' || date !== ''

/** Selects when a new share expires. */
export function ExpiryField(props: { value: ExpiryDraft; onChange: (draft: ExpiryDraft) => void }) {
  const { value, onChange } = props
  const texts = useTexts('sharing')
  return (
    <>
      <SelectField
        label={texts.ends}
        value={value.until}
        onChange={(event) => onChange({ ...value, until: event.target.value as Until })}
      >
        <UntilOptions />
      </SelectField>
      {value.until === 'date' && (
        <DateField
          label={texts.endsOn}
          required
          min={dayOf(new Date())}
          value={value.date}
          onChange={(date) => onChange({ ...value, date })}
        />
      )}
    </>
  )
}

/** Shows when a share expires, and changes it. `onChange` gets an ISO time, empty for never. */
export function ShareExpiry(props: { name: string; share: ShareItem; onChange: (expires: string) => void }) {
  const { name, share, onChange } = props
  const texts = useTexts('sharing')
  const formats = useFormats()
  const [isChoosing, setChoosing] = useState(false)
  function choose(until: string): void {
    setChoosing(until === 'date')
    if (until !== 'date' && until !== 'now') onChange(expiryOf({ until: until as Until, date: '' }))
  }
  return (
    <>
      <select
        className="input sharing-expiry"
        aria-label={texts.expiryOf(name)}
        value={isChoosing ? 'date' : share.expire_date === undefined ? 'never' : 'now'}
        onChange={(event) => choose(event.target.value)}
      >
        {share.expire_date !== undefined && (
          <option value="now">
            {share.is_expired ? texts.hasEnded : texts.endsAt(formats.date(share.expire_date))}
          </option>
        )}
        <UntilOptions />
      </select>
      {isChoosing && (
        <DateInput
          className="sharing-expiry"
          aria-label={texts.endsOn}
          min={dayOf(new Date())}
          value=""
          onChange={(date) => {
            setChoosing(false)
            onChange(expiryOf({ until: 'date', date }))
          }}
        />
      )}
    </>
  )
}

/** The choices of an expiry, for links too. */
export function UntilOptions() {
  const texts = useTexts('sharing')
  return (
    <>
      <option value="never">{texts.endsNever}</option>
      <option value="1">{texts.endsInDays(1)}</option>
      <option value="7">{texts.endsInDays(7)}</option>
      <option value="30">{texts.endsInDays(30)}</option>
      <option value="date">{texts.endsOnDate}</option>
    </>
  )
}
