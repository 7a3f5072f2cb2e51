// A flame graph whose zoom is part of the page's address.
import { navigate, useAddress } from '../lib/address';
import { FlameView } from './flameview';

export function AddressedFlameView(p: Omit<FlameView, 'zoom' | 'setZoom' | 'open'>) {
  return (
    <FlameView
      {...p}
      zoom={useAddress().get('zoom')}
      setZoom={(path) => navigate({ zoom: path === '' ? null : path })}
      open={(name) => navigate({ view: 'functions', function: name })}
    />
  );
}
