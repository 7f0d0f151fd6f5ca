// SPDX-License-Identifier: MIT
// A dashboard as Grafana's own components draw it.  draw_dashboard.py writes dashboard.js: the panels, and
// of each the series that Prometheus has for it, with the names of its legend.
import "uplot/dist/uPlot.min.css";
import React from "react";
import { createRoot } from "react-dom/client";
import { createTheme, dateTime, FieldType, getDisplayProcessor, ThemeContext, toDataFrame } from "@grafana/data";
import { PanelChrome, TimeSeries } from "@grafana/ui";

const COLUMN = 66, ROW = 38, GAP = 8; // pixels; a dashboard has 24 columns
const { dashboard, from, to } = (window as any).drawn;
const theme = createTheme({ colors: { mode: "light" } });

function frames(panel: any) {
  const { custom, ...defaults } = panel.fieldConfig.defaults;
  return panel.series.map((series: any, seriesIndex: number) => {
    const frame = toDataFrame({
      fields: [
        { name: "Time", type: FieldType.time, values: series.times, config: {} },
        { name: "Value", type: FieldType.number, values: series.values, config: {} },
      ],
    });
    const value = frame.fields[1];
    value.state = { seriesIndex };
    value.config = {
      displayName: series.name,
      color: { mode: "palette-classic" },
      ...defaults,
      custom: { drawStyle: "line", lineWidth: 1, fillOpacity: 0, ...custom },
    };
    for (const field of frame.fields) {
      field.display = getDisplayProcessor({ field, theme, timeZone: "utc" });
    }
    return frame;
  });
}

function Panel({ panel }: { panel: any }) {
  const { x, y, w, h } = panel.gridPos;
  const width = w * COLUMN - GAP, height = h * ROW - GAP;
  const timeRange: any = { from: dateTime(from), to: dateTime(to), raw: { from: "", to: "" } };
  return (
    <div style={{ position: "absolute", left: x * COLUMN, top: y * ROW, width, height }}>
      <PanelChrome width={width} height={height} title={panel.title}>
        {(innerWidth, innerHeight) => (
          <TimeSeries frames={frames(panel)} structureRev={1} timeRange={timeRange} timeZone="utc"
            width={innerWidth} height={innerHeight} legend={panel.options.legend} options={panel.options} />
        )}
      </PanelChrome>
    </div>
  );
}

const style = { fontFamily: theme.typography.fontFamily, fontSize: 13, color: theme.colors.text.primary };
createRoot(document.getElementById("root")!).render(
  <ThemeContext.Provider value={theme}>
    <div style={style}>{dashboard.panels.map((panel: any) => <Panel key={panel.id} panel={panel} />)}</div>
  </ThemeContext.Provider>
);
