// What is missing from all answers of the store, once for the page.
import { useEffect, useState } from 'preact/hooks';
import { leftOut, whenLeftOut } from './api';

export function LeftOut() {
  const [texts, set] = useState(leftOut());
  useEffect(() => whenLeftOut(set), []);
  return (
    <div role="status" aria-label="Left out of all answers">
      {texts.map((text) => <p key={text} class="warning">{text}</p>)}
    </div>
  );
}
