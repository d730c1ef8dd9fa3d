import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { correctPhotoDates, type Photo, type PhotoDate, refreshPhotos } from '../api/index.ts'
import { rememberUndo } from '../tasks/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { DateField, FormDialog, SelectField, TextField, useFailureToast, useToast } from '../ui/index.ts'
import { earliestOf, setTo, shiftedBy } from './local-times.ts'

type Way = 'shift' | 'set' | 'file'

const DIGITS = /^\d{1,5}$/

/** Corrects the dates of photos: all by the same time, or to a day, or back to those in the files. */
export function DatesDialog({ photos, onClose }: { photos: readonly Photo[]; onClose: () => void }) {
  const texts = useTexts('photos')
  const formats = useFormats()
  const queries = useQueryClient()
  const toast = useToast()
  const failed = useFailureToast()
  const earliest = earliestOf(photos)
  const [way, setWay] = useState<Way>('shift')
  const [isEarlier, setEarlier] = useState(false)
  const [amounts, setAmounts] = useState({ days: '0', hours: '0', minutes: '0' })
  const [day, setDay] = useState(earliest.slice(0, 10))
  const [time, setTime] = useState(earliest.slice(11, 16))
  const [days, hours, minutes] = [Number(amounts.days), Number(amounts.hours), Number(amounts.minutes)]
  const seconds = (isEarlier ? -1 : 1) * ((days * 24 + hours) * 60 + minutes) * 60
  const newDate = (taken: string): string | undefined =>
    way === 'shift' ? shiftedBy(taken, seconds) : setTo(taken, earliest, `${day}T${time}:00`)
  const dates = photos.map(({ taken }) => (way === 'file' ? null : newDate(taken.slice(0, 19))))
  const isValid =
    way === 'file' ||
    (way === 'set'
      ? day !== '' && time !== ''
      : Object.values(amounts).every((one) => DIGITS.test(one)) && seconds !== 0)
  const change = async (changes: readonly PhotoDate[]) => {
    const before = await correctPhotoDates(changes)
    await refreshPhotos(queries)
    return before
  }
  const onSubmit = async () => {
    const before = await change(
      photos.map(({ repo_id, path }, index) => ({ repo_id, path, taken: dates[index] ?? null })),
    )
    const undo = rememberUndo(() =>
      change(before).then(
        () => toast({ text: texts.datesAsBefore(before.length, formats.number(before.length)) }),
        failed,
      ),
    )
    toast({ text: texts.datesChanged(photos.length, formats.number(photos.length)), undo })
  }
  const first = newDate(earliest)
  return (
    <FormDialog
      title={texts.changeDatesOf(photos.length, formats.number(photos.length))}
      submit={texts.change}
      disabled={!isValid || dates.includes(undefined)}
      onSubmit={onSubmit}
      onClose={onClose}
    >
      <SelectField label={texts.way} value={way} onChange={({ target }) => setWay(target.value as Way)}>
        <option value="shift">{texts.shift}</option>
        <option value="set">{texts.set}</option>
        <option value="file">{texts.fromFile}</option>
      </SelectField>
      {way === 'shift' && (
        <div className="photos-amounts">
          <SelectField
            label={texts.direction}
            value={isEarlier ? 'earlier' : 'later'}
            onChange={({ target }) => setEarlier(target.value === 'earlier')}
          >
            <option value="later">{texts.later}</option>
            <option value="earlier">{texts.earlier}</option>
          </SelectField>
          {(['days', 'hours', 'minutes'] as const).map((unit) => (
            <TextField
              key={unit}
              label={texts[unit]}
              inputMode="numeric"
              value={amounts[unit]}
              onChange={({ target }) => setAmounts({ ...amounts, [unit]: target.value })}
            />
          ))}
        </div>
      )}
      {way === 'set' && (
        <div className="photos-amounts photos-moment">
          <DateField
            label={texts.day}
            value={day}
            onChange={setDay}
            max="9999-12-30"
            min="0001-01-01"
            required
          />
          <TextField
            label={texts.time}
            type="time"
            required
            value={time}
            onChange={({ target }) => setTime(target.value)}
          />
        </div>
      )}
      <p className="muted">
        {way === 'file'
          ? texts.fromFileHint
          : first !== undefined && isValid && texts.preview(formats.date(earliest), formats.date(first))}
      </p>
      <p className="muted">{texts.filesUnchanged}</p>
    </FormDialog>
  )
}
