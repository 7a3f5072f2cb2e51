// LeftOut shows once, at the top of the page, which experiments are missing from all answers.
import { useEffect, useState } from 'preact/hooks';
import { leftOut, onLeftOutChange } from '../lib/api';

export function LeftOut() {
  const [texts, set] = useState(leftOut());
  useEffect(() => onLeftOutChange(set), []);
  return (
    <div role="status" aria-label="Left out of all answers">
      {texts.map((text) => (
        <p key={text} class="warning">
          {text}
        </p>
      ))}
    </div>
  );
}
